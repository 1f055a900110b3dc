/**
 * The test run: style, then compiled test files, four at a time. A file that touches its process has its
 * own process; the others run one after another in as few processes as there are lanes, because for most of them
 * starting a process would take longer than their tests.
 *
 *     npm test                  style, and a share of the tests (below)
 *     npm test -- obj mesh/     all tests of the files whose path contains one of the words; failures then name places in the sources, not in dist
 *
 * The files print TAP, so plain Node runs them: tap's own command would start a TypeScript loader for each file, which
 * takes over a second longer than the file itself and has nothing to load here. Every assertion is counted where it was
 * made, and a file that ends badly without a failed assertion (crash, time limit, nothing run) counts as one failure.
 * The last line is always `N passed, N failed, N skipped`. Above it are the files that used the most processor time,
 * including programs that they started and awaited.
 *
 * All files of a run derive their random numbers from one seed, TEST_SEED, which is printed. deploy/test-seeds.mjs runs
 * files with many seeds.
 *
 * `npm test` without words tries a share of each long table, which the seed chooses (test/support/share.ts), and of some
 * files (SHARED_FOLDERS, SHARED_FILES); with words, or with INTERSTICE_LONG_TESTS=1, it tries all of them.
 *
 * With INTERSTICE_RERUN_FAILED=1, for machines that do other work at the same time, up to two failed files are run once
 * more, alone and with the same seed. A file that then passes has failed because of its timing, or because of leftovers
 * of an earlier file in its process: it is listed as UNSTEADY below the output of its failure, which should be fixed,
 * and it counts as passed. A wrong result for the seed fails both times.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { Lane, runAlone } from './test-process.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Folders of compiled tests; the second belongs to a separate package. */
const TEST_FOLDERS = [join(root, 'dist', 'test'), join(root, 'dist', 'examples', 'solver', 'test')];
/** Files that compute at the same time: one more than the cores of a small machine, because every file waits at times. */
const COMPUTING_LANES = 3;
/** Files that start services and mostly wait for them, for a clock or for a socket: one more at a time costs little. */
const WAITING =
  /^(examples\/solver\/test\/(scenes|service)|bench|cli|clients|conformance|page|rough|server|transport)\b/;
/** Files with their own process, by folder: they start services, break their device, or measure the process. */
const APART = /^(bench\/(cluster|load)|clients|conformance|gpu\/device|observe|page|rough)\b/;
/**
 * And by content: they or their helpers change state that the next file would see. Reading settings of the run is
 * harmless.
 */
const TOUCHES_PROCESS =
  /\bprocess\.(?!env\.(INTERSTICE_(REQUIRE|DATA)|TEST_))|node:(child_process|cluster|v8|vm|worker_threads)|\bglobal(This)?\b|mockImport|mock\.timers|ServerProcess|collect-garbage|served-program/;
/**
 * Folders whose files take much of the time of all, and concern what lies around the engine and the service: of so many
 * files of each the shared run takes one.
 */
const SHARED_FOLDERS = {
  bench: 3,
  clients: 3,
  'examples/solver/test': 3,
  'gpu/device': 4,
  'gpu/proof': 3,
  cli: 3,
  'gpu/convoy': 2,
  page: 3,
  rough: 2,
  server: 2,
};
/** Files of other folders that take longest on a software adapter: the shared run takes every other one of this list. */
const SHARED_FILES = [
  'gpu/pull-back/runs',
  'gpu/step/subgroups',
  'gpu/capacity',
  'gpu/pull-back/cases',
  'gpu/pull-back/near-answers',
  'jobs/device-lanes',
  'gpu/pull-back/examples',
  'gpu/engine',
  'lanes/convoy',
  'jobs/engines',
  'gpu/step/step-loop',
  'gpu/pull-back/strain-limits',
  'gpu/capacity-folds',
  'gpu/saved-scenes',
  'gpu/shared-budget',
  'load/abort',
];
/**
 * The longest files start first, so that no core is idle while the last file runs. `npm test` prints the times; the
 * order of shorter files does not matter.
 */
const FIRST = [
  'rough/cancels',
  'rough/grpc-malformed',
  'rough/recycled-buffers',
  'rough/http-malformed',
  'page/page',
  'page/work',
  'page/controls',
  'solver/cpu/cores',
  'gpu/device/device-life',
  'gpu/pull-back/cases',
  'gpu/capacity',
  'gpu/step/subgroups',
  'gpu/convoy/company',
  'session/kept-sessions',
  'gpu/pull-back/examples',
  'examples/solver/test/scenes',
  'cli/doctor',
  'gpu/pull-back/runs',
  'solver/cpu/pull-back',
  'gpu/device/device-life-processes',
  'gpu/device/kernels-on-demand',
  'gpu/device/device-life-scenes',
  'solver/cpu/abandon',
];
/** Enough to see the cause; a file in which everything fails should not hide the others. */
const MAX_FAILURES_SHOWN = 20;
const MAX_STDERR_SHOWN = 8_000;
/** More failed files than this are not due to timing. */
const MAX_RERUNS = 2;

/** Number of the most expensive files that are listed at the end. */
const MAX_SLOWEST_SHOWN = 20;

const print = (text) => process.stdout.write(`${text}\n`);

const listTests = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith('.test.js'))
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
        .sort()
    : [];

const mayShare = ({ file, name }) => !APART.test(name) && !TOUCHES_PROCESS.test(readFileSync(file, 'utf8'));

const findTests = (words) => {
  const nameOf = (file) =>
    relative(join(root, 'dist'), file)
      .split(sep)
      .join('/')
      .replace(/^test\//, '');
  return TEST_FOLDERS.flatMap(listTests)
    .map((file) => ({ file, name: nameOf(file).replace(/\.test\.js$/, '') }))
    .map((test) => ({ ...test, mayShare: mayShare(test) }))
    .filter(({ name }) => (words.length === 0 ? true : words.some((word) => `test/${name}.test.ts`.includes(word))));
};

/** Above every number of parts of a table, so that the share of files says nothing about the shares of tables. */
const TABLE_SHARES = 1 << 16;

/** Returns the files of a shared run. Those of a folder that start first, which take longest, count separately. */
const shareOf = (files) => {
  const counts = new Map();
  const turn = Math.floor(Number(seed) / TABLE_SHARES);
  return files.filter(({ name }) => {
    if (SHARED_FILES.includes(name)) return SHARED_FILES.indexOf(name) % 2 === turn % 2;
    const folder = Object.keys(SHARED_FOLDERS).find((start) => name.startsWith(`${start}/`));
    if (folder === undefined) return true;
    const kind = `${folder} ${FIRST.includes(name)}`;
    const index = counts.get(kind) ?? 0;
    counts.set(kind, index + 1);
    return index % SHARED_FOLDERS[folder] === turn % SHARED_FOLDERS[folder];
  });
};

const indent = (text, by = '      ') => text.trimEnd().replace(/^/gm, by);

const inSeconds = (number) => `${number.toFixed(1)} s`;

const report = ({ name, tally, stderr, seconds, processor }) => {
  const counts = [`${tally.passed} passed`];
  if (tally.failed > 0) counts.push(`${tally.failed} failed`);
  if (tally.skipped > 0) counts.push(`${tally.skipped} skipped`);
  print(
    `${tally.failed > 0 ? 'FAIL' : ' ok '}  ${name}  ${counts.join(', ')}  (${inSeconds(seconds)}, processor ${inSeconds(processor)})`,
  );
  for (const skip of tally.skips) print(`      skipped: ${skip}`);
  for (const { path, diag } of tally.failures.slice(0, MAX_FAILURES_SHOWN)) {
    print(`    x ${path}`);
    if (diag) print(indent(typeof diag === 'string' ? diag : inspect(diag, { depth: 6, breakLength: 110 })));
  }
  const hidden = tally.failures.length - MAX_FAILURES_SHOWN;
  if (hidden > 0) print(`      … and ${hidden} more`);
  if (tally.failed > 0 && stderr) {
    if (stderr.length > MAX_STDERR_SHOWN) print(`      (standard error, its last ${MAX_STDERR_SHOWN} characters)`);
    print(indent(stderr.slice(-MAX_STDERR_SHOWN)));
  }
};

/** Processor time matters on a small machine, and hardly depends on other work. */
const reportCosts = (results) => {
  const sum = results.reduce((all, { processor }) => all + processor, 0);
  print(
    `processor time of all ${results.length} files: ${inSeconds(sum)}; the files that took most, with the time by the clock:`,
  );
  const slowest = [...results].sort((a, b) => b.processor - a.processor).slice(0, MAX_SLOWEST_SHOWN);
  for (const { name, processor, seconds } of slowest) {
    print(`${inSeconds(processor).padStart(9)} ${inSeconds(seconds).padStart(9)}  ${name}`);
  }
};

const checkStyle = () =>
  new Promise((resolve) => {
    const biome = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
    const child = spawn(process.execPath, [biome, 'check', '.'], { cwd: root, stdio: 'inherit' });
    child.once('close', (code) => resolve(code === 0));
  });

/** Stable, so all others stay in the order of their names. */
const placeOf = ({ name }) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);

const words = process.argv.slice(2);
const seed = process.env.TEST_SEED || String(randomInt(2 ** 31));
const isShared = words.length === 0 && process.env.INTERSTICE_LONG_TESTS !== '1';
print(`TEST_SEED=${seed}`);
const failed = [];
const results = [];
const total = { passed: 0, failed: 0, skipped: 0 };
const count = (tally, sign) => {
  for (const key of Object.keys(total)) total[key] += sign * tally[key];
};

if (words.length === 0) {
  const isClean = await checkStyle();
  total[isClean ? 'passed' : 'failed'] += 1;
  print(isClean ? ' ok   style' : 'FAIL  style: `npx biome check --write .` repairs most of it');
}

const known = findTests(words);
const queue = isShared ? shareOf(known) : known;
if (isShared) {
  print(
    `${queue.length} of ${known.length} files and a share of long tables, which the seed chooses; all: INTERSTICE_LONG_TESTS=1`,
  );
}
if (queue.length === 0) {
  print(words.length === 0 ? 'no compiled tests; run `npm run build`' : `no test file matches ${words.join(', ')}`);
  total.failed += 1;
}
const named = words.length === 0 ? [...FIRST, ...SHARED_FILES] : [];
const missing = named.filter((name) => !known.some((file) => file.name === name));
if (missing.length > 0) {
  print(`FAIL  files that this program names are not there: ${missing.join(', ')}`);
  total.failed += missing.length;
}
queue.sort((a, b) => placeOf(a) - placeOf(b));
const waiting = queue.filter(({ name }) => WAITING.test(name));
const computing = queue.filter(({ name }) => !WAITING.test(name));
const take = (result) => {
  report(result);
  results.push(result);
  count(result.tally, 1);
};
const work = async (next) => {
  const lane = new Lane({ seed, isShared, namesSources: words.length > 0 });
  for (let file = next(); file; file = next()) {
    const result = await lane.run(file);
    take(result);
    if (result.tally.failed > 0) failed.push({ file, tally: result.tally });
  }
  for (const result of await lane.end()) take(result);
};
await Promise.all([
  work(() => waiting.shift()),
  ...Array.from({ length: COMPUTING_LANES }, () => work(() => computing.shift() ?? waiting.shift())),
]);

if (process.env.INTERSTICE_RERUN_FAILED === '1' && failed.length <= MAX_RERUNS) {
  for (const { file, tally } of failed) {
    print(`once more, alone: ${file.name}`);
    const again = await runAlone(file, { seed, isShared, namesSources: true });
    report(again);
    if (again.tally.failed > 0) continue;
    print(`UNSTEADY  ${file.name}: it failed beside other files and passes alone; its failure is above`);
    count(tally, -1);
    count(again.tally, 1);
  }
}

if (results.length > 1) reportCosts(results);
if (words.length === 0) {
  print(
    'not run here: the Python and C++ clients, which need compilers of their own; deploy/test-clients.sh runs them',
  );
}
process.exitCode = total.failed === 0 ? 0 : 1;
print(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
