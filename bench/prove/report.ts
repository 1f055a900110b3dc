import { join } from 'node:path';
import type { Machine } from '../machine.js';
import { writeWhole } from '../whole-file.js';
import type { EngineRun } from './campaign.js';
import type { FailureResult } from './failures/failures.js';
import type { MutantResult } from './mutants/run-mutants.js';
import type { Course, SoakResult } from './soak.js';

export interface ProveReport {
  readonly date: string;
  readonly version: string;
  readonly algorithmVersion: string;
  readonly command: string;
  readonly seed: number;
  readonly seconds: number;
  readonly machine: Machine | undefined;
  /** parts that could not be tried here, and why */
  readonly notes: readonly string[];
  readonly runs: readonly EngineRun[];
  readonly mutants: readonly MutantResult[];
  readonly faults: readonly (FailureResult & { readonly engine: string })[];
  readonly soaks: readonly SoakResult[];
  /** 0 means that nothing was found */
  readonly findings: number;
}

/** Everything that makes a campaign fail. */
export function countFindings(report: Omit<ProveReport, 'findings'>): number {
  return (
    report.runs.reduce((sum, run) => sum + run.findings.length, 0) +
    report.mutants.filter(({ result }) => result === 'MISSED' || result === 'MISFIT').length +
    report.faults.filter(({ result }) => result === 'BROKEN').length +
    report.soaks.reduce((sum, soak) => sum + soak.findings.length, 0)
  );
}

/** One for every case, mutant, failure and soak: `N passed, N failed, N skipped`. */
export function tallyOf({ runs, mutants, faults, soaks }: Omit<ProveReport, 'findings'>): string {
  const failed =
    runs.reduce((sum, run) => sum + run.failed, 0) +
    mutants.filter(({ result }) => result !== 'CAUGHT').length +
    faults.filter(({ result }) => result === 'BROKEN').length +
    soaks.filter(({ findings }) => findings.length > 0).length;
  const skipped = faults.filter(({ result }) => result === 'SKIPPED').length;
  const all = runs.reduce((sum, run) => sum + run.cases, 0) + mutants.length + faults.length + soaks.length;
  return `${all - failed - skipped} passed, ${failed} failed, ${skipped} skipped`;
}

/** Writes report.json and report.html. @returns the page's path */
export function writeReport(folder: string, report: ProveReport): string {
  writeWhole(join(folder, 'report.json'), `${JSON.stringify(report, null, 1)}\n`);
  const page = join(folder, 'report.html');
  writeWhole(page, renderReport(report));
  return page;
}

const escapeText = (text: unknown): string =>
  String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

function table(heads: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const line = (cells: readonly unknown[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeText(cell ?? '')}</${tag}>`).join('')}</tr>`;
  return `<table>${line(heads, 'th')}${rows.map((row) => line(row, 'td')).join('\n')}</table>`;
}

const list = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

const course = ({ atFirst, atLast }: Course, unit: (value: number) => string): string =>
  atFirst === undefined || atLast === undefined ? 'not reported' : `${unit(atFirst)} → ${unit(atLast)}`;
const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
const milliseconds = (ms: number): string => `${ms.toFixed(1)} ms`;

/** The parts of a campaign, the question of each, and its result. */
function summaryOf({ runs, mutants, faults, soaks }: ProveReport): string[][] {
  const sum = (of: (run: EngineRun) => number) => runs.reduce((total, run) => total + of(run), 0);
  const caught = mutants.filter(({ result }) => result === 'CAUGHT').length;
  const held = faults.filter(({ result }) => result === 'HELD').length;
  const skipped = faults.filter(({ result }) => result === 'SKIPPED').length;
  const wrong = soaks.reduce((total, { findings }) => total + findings.length, 0);
  const none = 'not run';
  return [
    [
      'Cases',
      'Is any answer, path, report or refusal wrong?',
      runs.length === 0
        ? none
        : `${sum(({ cases }) => cases)} cases, ${sum(({ answers }) => answers)} answers, ${sum(({ pieces }) => pieces)} pieces of paths; ${sum(({ findings }) => findings.length)} findings`,
    ],
    [
      'Planted faults',
      'Does the judge notice a fault? Copies of the service in which one rule each is broken',
      mutants.length === 0 ? none : `${caught} of ${mutants.length} caught`,
    ],
    [
      'Faults around the engine',
      'Do the guarantees hold when clients, threads, devices and processes are lost?',
      faults.length === 0 ? none : `${held} held, ${faults.length - held - skipped} broken, ${skipped} do not apply`,
    ],
    [
      'Soak',
      'Do memory and latency stay constant?',
      soaks.length === 0
        ? none
        : `${soaks.reduce((total, { answers }) => total + answers, 0)} answers; ${wrong} findings`,
    ],
  ];
}

const RUN_ROWS: readonly (readonly [string, (run: EngineRun) => unknown])[] = [
  ['cases', ({ cases }) => cases],
  ['seconds', ({ seconds }) => seconds.toFixed(0)],
  ['answers judged', ({ answers }) => answers],
  ['pieces of paths judged (0: the build writes none)', ({ pieces }) => pieces],
  ['steps of the engine', ({ steps }) => steps],
  ['answers that reused a proximity set', ({ reused }) => reused],
  ['answers with pairs excluded that intersected at the start', ({ ignoring }) => ignoring],
  ["comparisons with the service's own check", ({ checks }) => checks],
  ['how requests ended', ({ endings }) => list(endings)],
  ['doors and modes', ({ byWay }) => list(byWay)],
  ['scenes', ({ byScene }) => list(byScene)],
  ['findings', ({ findings }) => findings.length],
];

const ENDINGS = `Endings: CONVERGED (the residual is below the threshold), STALLED (no vertex moves any more), STEP_LIMIT and DEADLINE (stopped before)
are answers, all of them safe. INTERSECTING_START, TOLERANCE_TOO_SMALL and INVALID_PARAMETER are refusals that the judge
found to be the only right reply, SESSION_NOT_FOUND a session that had expired. CRASHED is a finding.`;

export function renderReport(report: ProveReport): string {
  const { runs, mutants, faults, soaks, findings } = report;
  const caught = mutants.filter(({ result }) => result === 'CAUGHT').length;
  const verdict = findings === 0 ? 'Nothing was found.' : `${findings} finding${findings === 1 ? '' : 's'}.`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Proof campaign: ${escapeText(verdict)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
table { border-collapse: collapse; margin: 0.5rem 0 1.5rem; width: 100% }
th, td { border: 1px solid #ccc; padding: 0.25rem 0.5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere }
th { background: #f2f2f2 } .verdict { font-size: 1.4rem; color: ${findings === 0 ? '#176b2c' : '#a01515'} }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #161616 } th { background: #2a2a2a } th, td { border-color: #444 } }
</style></head><body>
<h1>Proof campaign</h1>
<p class="verdict">${escapeText(verdict)}</p>
<p>${escapeText(report.date)}, version ${escapeText(report.version)}, algorithm ${escapeText(report.algorithmVersion)}, seed ${report.seed}, ${report.seconds.toFixed(0)} s.
${report.machine ? `${escapeText(report.machine.cpu)}, ${report.machine.cores} cores, Node ${escapeText(report.machine.node)}.` : ''}</p>
<p>To repeat: <code>${escapeText(report.command)}</code></p>
${report.notes.length > 0 ? `<ul>${report.notes.map((note) => `<li>${escapeText(note)}</li>`).join('')}</ul>` : ''}
<p>The service moves the vertices of a mesh towards a target and promises that nothing intersects, neither in the answer nor on
the way. This campaign starts the real service, sends it what is likely to break that promise, and judges every answer from the
request and the answer alone, by code that shares nothing with the engines or the service's own verifier. A <em>finding</em> is
an answer, a refusal or a death that no right service would give; there should be none. What is promised, and how each part is tested:
docs/guarantee.md.</p>
<table class="sum"><tr><th>part</th><th>what it asks</th><th>outcome</th></tr>
${summaryOf(report)
  .map((cells) => `<tr>${cells.map((cell) => `<td>${escapeText(cell)}</td>`).join('')}</tr>`)
  .join('\n')}</table>
<h2>Cases</h2>
<p>A case is one scene, sent in one way: a single resolve, or a session of many frames. The same seed gives the same cases; how
many are reached depends on the time.</p>
${table(
  ['', ...runs.map(({ engine }) => engine)],
  RUN_ROWS.map(([name, of]) => [name, ...runs.map(of)]),
)}
<p>${ENDINGS}</p>
${
  runs.some((run) => run.findings.length > 0)
    ? `<h3>Findings</h3>${table(
        ['engine', 'case', 'promise that was broken', 'details', 'sent as'],
        runs.flatMap((run) =>
          run.findings.map((found) => [
            found.engine,
            `${found.case.id}, seed ${found.case.seed}, ${found.case.door} ${found.case.mode}`,
            found.promise,
            found.details,
            JSON.stringify(found.case.variation),
          ]),
        ),
      )}`
    : ''
}
<h2>Planted faults</h2>
<p>${caught} of ${mutants.length} faults, planted in copies of the build, were caught by the same judge. CAUGHT is what should be; MISSED means
that the judge is blind there, MISFIT that the build has changed and the patch no longer fits.</p>
${table(
  ['fault', 'what was broken', 'files', 'result', 'finding that caught it', 'cases until then'],
  mutants.map((m) => [m.name, m.fault, m.files.join(' '), m.result, m.by, m.cases]),
)}
<h2>Faults around the engine</h2>
<p>HELD is what should be. SKIPPED says why it does not apply.</p>
${table(
  ['engine', 'fault', 'result', 'details'],
  faults.map((f) => [f.engine, f.name, f.result, f.details]),
)}
<h2>Soak</h2>
<p>Resolves, one session that lasts all the time and many short ones, in turn. Medians after the warm-up and at the end.</p>
${table(
  [
    'engine',
    'seconds',
    'answers',
    'short sessions',
    'process',
    'held on the device',
    'held for sessions',
    'processor time of ten rounds',
    'a resolve',
    'a step',
    'the same work at the judge (a busy machine shows here)',
    'findings',
  ],
  soaks.map((s) => [
    s.engine,
    s.seconds.toFixed(0),
    s.answers,
    s.sessions,
    course(s.resident, mebibytes),
    course(s.device, mebibytes),
    course(s.host, mebibytes),
    course(s.processor, (seconds) => milliseconds(1000 * seconds)),
    course(s.resolveLatency, milliseconds),
    course(s.stepLatency, milliseconds),
    course(s.machine, milliseconds),
    s.findings.join('; '),
  ]),
)}
</body></html>
`;
}
