import type { Diagnosis, DiagnosisFinding, Severity } from '../../contract/diagnosis.js';
import { type Sewn, sew } from '../../diagnose/sew.js';
import { type Welded, weld } from '../../diagnose/weld.js';
import { assertSameTopology, type MeshFile, partsOfGroups, readMeshFile, toMeshInput } from '../../mesh/files/index.js';
import { encodeJson } from '../../transport/json/encode.js';
import type { Backend, BackendChoice, CliContext } from '../backend.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { formatNumber, formatPlural, formatRows, formatSeconds } from '../format.js';
import {
  filesOf,
  type InputFlags,
  listKinematic,
  markKinematicFile,
  markKinematicFrom,
  naming,
  namingMeshes,
} from '../inputs.js';
import { readingLimits } from '../local.js';
import { assertMeshOutput, writeMeshAnswer } from '../mesh-output.js';
import { assertWritable, writeAtomically } from '../outputs.js';
import { withInterrupt } from '../terminal.js';
import { withBackend } from '../with-backend.js';

export interface DoctorFlags extends Pick<InputFlags, 'kinematic' | 'kinematicFrom'>, BackendChoice {
  readonly weldTo?: string;
  readonly sewTo?: string;
  /** path of a PNG */
  readonly picture?: string;
  readonly distance?: number;
  readonly maxElements?: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** `interstice doctor START [TARGET]`; returns the exit code. */
export async function runDoctor(
  path: string,
  targetPath: string | undefined,
  flags: DoctorFlags,
  cli: CliContext,
): Promise<number> {
  const inputs = [path, ...(targetPath === undefined ? [] : [targetPath]), ...filesOf(flags)];
  if (flags.weldTo !== undefined && flags.weldTo === flags.sewTo)
    throw new UsageError('--weld-to and --sew-to name one file.', 'doctor');
  for (const output of [flags.weldTo, flags.sewTo]) {
    if (output === undefined) continue;
    if (/\.gl(b|tf)$/i.test(output)) throw new UsageError(`${output}: the doctor writes OBJ and PLY.`, 'doctor');
    await assertMeshOutput(output, inputs, 'doctor');
  }
  if (flags.picture !== undefined) {
    if (!/\.png$/i.test(flags.picture)) {
      throw new UsageError(`The picture is a PNG, so its name must end in .png, not ${flags.picture}.`, 'doctor');
    }
    await assertWritable(flags.picture, inputs);
  }
  if (flags.distance !== undefined && !(flags.distance > 0 && flags.distance < Infinity)) {
    throw new UsageError('--distance must be greater than 0.', 'doctor');
  }
  if (flags.distance !== undefined && flags.weldTo === undefined && flags.sewTo === undefined)
    throw new UsageError('--distance is for --weld-to and --sew-to.', 'doctor');
  const limits = readingLimits(flags, cli.terminal.env, 'doctor');
  const file = await naming(path, () => readMeshFile(path, limits));
  const target =
    targetPath === undefined ? undefined : await naming(targetPath, () => readMeshFile(targetPath, limits));
  if (target) await naming(`${targetPath}`, async () => assertSameTopology(file, target));
  const kinematic = await readKinematic(file, flags);
  const paths = { start: path, target: targetPath };
  return withInterrupt((signal) =>
    withBackend(cli, flags, `looking at ${path}`, async (backend, line) => {
      const ask = (asked: MeshFile) =>
        namingMeshes(paths, () => diagnose(backend, asked, target, kinematic, flags, signal));
      const answer = await ask(file);
      const mended: string[] = [];
      if (flags.weldTo !== undefined) {
        const welded = weld(file, target, flags.distance);
        await writeMeshAnswer(
          flags.weldTo,
          path,
          { file: welded.file, firstOf: undefined },
          welded.file.positions,
          cli.terminal,
        );
        mended.push(describeWelded(flags.weldTo, welded, await ask(welded.file)));
      }
      if (flags.sewTo !== undefined) {
        const sewn = sew(file, flags.distance);
        await writeMeshAnswer(
          flags.sewTo,
          path,
          { file: sewn.file, firstOf: undefined },
          sewn.file.positions,
          cli.terminal,
        );
        mended.push(describeSewn(flags.sewTo, sewn, await ask(sewn.file)));
      }
      if (flags.picture !== undefined) {
        const { drawDiagnosis } = await import('../doctor-picture.js');
        await writeAtomically(flags.picture, [drawDiagnosis(file, answer)]);
        mended.push(`${flags.picture}: problems are red, warnings orange, notes blue.`);
      }
      line.clear();
      if (flags.json === true) {
        cli.terminal.out.write(
          `${JSON.stringify(encodeJson('DiagnoseResponse', answer, { arrays: true }), null, 2)}\n`,
        );
      } else if (flags.quiet !== true) {
        cli.terminal.out.write(`${[describeDiagnosis(answer, path, file), ...mended].join('\n')}\n`);
      }
      return isWell(answer) ? EXIT.OK : EXIT.FOUND;
    }),
  );
}

async function readKinematic(
  file: MeshFile,
  { kinematic, kinematicFrom }: DoctorFlags,
): Promise<Uint8Array | undefined> {
  if (kinematic === undefined && kinematicFrom === undefined) return undefined;
  const marks = new Uint8Array(file.vertexCount);
  if (kinematicFrom !== undefined) markKinematicFrom(kinematicFrom, marks);
  if (kinematic !== undefined) await markKinematicFile(kinematic, marks);
  return listKinematic(marks).length > 0 ? marks : undefined;
}

function diagnose(
  backend: Backend,
  file: MeshFile,
  target: MeshFile | undefined,
  kinematic: Uint8Array | undefined,
  { maxElements }: DoctorFlags,
  signal: AbortSignal,
): Promise<Diagnosis> {
  const parts = partsOfGroups(file);
  return backend.diagnose(
    {
      mesh: { ...toMeshInput(file), ...(kinematic ? { kinematic } : {}), ...(parts ? { parts } : {}) },
      positions: file.positions,
      ...(target ? { target: target.positions } : {}),
      ...(maxElements === undefined ? {} : { maxElements }),
    },
    { signal, receivedAt: performance.now() },
  );
}

/** Whether there is no problem: nothing is refused, and nothing looks unintended. */
const isWell = (answer: Diagnosis): boolean => !answer.findings.some(({ severity }) => severity === 'PROBLEM');

const HEADINGS: { readonly [K in Severity]: string } = { PROBLEM: 'problem', WARNING: 'warning', NOTE: 'note' };

/** Layers and components that the text lists; JSON contains more. */
const SHOWN = 6;

/** Characters of a line of text, without the heading. */
const WIDTH = 96;

/** Describes the findings as text: what, where, what to do; then the layers and suitable lengths. */
function describeDiagnosis(answer: Diagnosis, path: string, { vertexCount }: Pick<MeshFile, 'vertexCount'>): string {
  const count = (severity: Severity): number => answer.findings.filter((one) => one.severity === severity).length;
  const verdict = !answer.accepted
    ? 'would be refused as a start'
    : isWell(answer)
      ? 'is accepted as a start'
      : 'is accepted, but the answer would not be what you intend';
  const counts = `${formatPlural(count('PROBLEM'), 'problem')}, ${formatPlural(count('WARNING'), 'warning')}`;
  const rows: [string, string][] = [];
  const add = (label: string, text: string): void => {
    wrap(text).forEach((line, k) => {
      rows.push([k === 0 ? label : '', line]);
    });
  };
  for (const finding of answer.findings) {
    add(HEADINGS[finding.severity], finding.message);
    const where = describePlaces(finding);
    if (where !== '') add('', where);
    if (finding.advice !== '') add('', `→ ${finding.advice}`);
  }
  const shown = answer.components.slice(0, SHOWN);
  if (answer.componentCount > 1) {
    const rest = answer.componentCount > shown.length ? `; ${answer.componentCount - shown.length} more` : '';
    add(
      'parts',
      `${shown.map((one) => `${one.name}: ${formatPlural(one.vertexCount, 'vertex', 'vertices')}${one.closed ? ', closed' : ''}`).join('; ')}${rest}`,
    );
  }
  for (const { inner, outer, confidence } of answer.layers.slice(0, SHOWN)) {
    add('layers', `${outer} lies outside ${inner} (${Math.round(100 * confidence)} % of the samples)`);
  }
  if (answer.activationDistance !== undefined) {
    add(
      'lengths',
      `δ ${formatNumber(answer.activationDistance)}, leap ${formatNumber(answer.leap ?? Number.NaN)} (defaults for this mesh)`,
    );
  }
  if (answer.smallestTimeBudgetSeconds !== undefined) {
    add(
      'time',
      `a budget of ${formatSeconds(answer.smallestTimeBudgetSeconds)} or more makes progress on this machine`,
    );
  }
  const subject = `${path} (${formatPlural(vertexCount, 'vertex', 'vertices')})`;
  return [`${subject} ${verdict}: ${counts}`, ...formatRows(rows)].join('\n');
}

/** The first elements of a finding by their vertices. */
function describePlaces({ elements, code }: DiagnosisFinding): string {
  if (elements.length === 0 || code === 'INTERSECTION' || code === 'KINEMATIC_CANDIDATE') return '';
  const places = elements.slice(0, SHOWN).map(({ kind, vertices }) => `${kind} ${vertices.join('-')}`);
  return `at ${places.join(', ')}${elements.length > SHOWN ? ', …' : ''}`;
}

/** Breaks a text between words. */
function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > WIDTH) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}

const afterwards = (answer: Diagnosis): string =>
  answer.accepted
    ? 'It is accepted.'
    : `It would still be refused: ${answer.findings.find(({ severity }) => severity === 'PROBLEM')?.message ?? ''}`;

function describeWelded(path: string, { welded, dropped }: Welded, answer: Diagnosis): string {
  const lost = dropped === 0 ? '' : `, ${formatPlural(dropped, 'element')} without extent or twice there dropped`;
  return `${path}: ${formatPlural(welded.length, 'vertex', 'vertices')} welded${lost}. ${afterwards(answer)}`;
}

function describeSewn(path: string, { pairs, added }: Sewn, answer: Diagnosis): string {
  return `${path}: ${formatPlural(pairs, 'pair')} of border vertices sewn with ${formatPlural(added, 'triangle')}. ${afterwards(answer)}`;
}
