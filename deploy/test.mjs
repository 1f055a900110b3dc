/**
 * The whole test run: style, then every compiled test file, three at a time, each in a process of its own.
 *
 *     npm test                  everything
 *     npm test -- obj mesh/     only the test files whose path contains one of the words
 *
 * The files print TAP, so plain Node runs them: tap's own command would start a TypeScript loader for each file, which
 * costs over a second more than the file itself and has nothing to load here. Every assertion is counted where it was
 * made, and a file that ends badly without a failed assertion (crash, time limit, nothing run) counts as one failure.
 * The last line is always `N passed, N failed, N skipped`. Above it stand the files that took most of the processor, with the programs
 * that they started and waited for.
 *
 * All files of a run draw their random numbers from one seed, TEST_SEED, which is printed.
 *
 * With INTERSTICE_RERUN_FAILED=1, for machines that do other work at the same time, up to two failed files are run once more,
 * alone and with the same seed. One that passes then has failed by its timing: it is listed as UNSTEADY below the output of its
 * failure, which is a fault to mend, and it counts as passed. A result that is wrong for the seed fails both times.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { Parser } from 'tap-parser';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Where compiled tests are; the second is of a package of its own. */
const TEST_FOLDERS = [join(root, 'dist', 'test'), join(root, 'dist', 'examples', 'solver', 'test')];
/** Files at once that compute: one a core on a small machine. */
const COMPUTING_LANES = 2;
/** Files that start services and mostly wait for them, for a clock or for a socket: one more at a time costs little. */
const WAITING = /^(examples\/solver\/test\/(scenes|service)|bench|cli|clients|conformance|rough|server|transport)\b/;
/** For what hangs. The slowest file takes half a minute; ten times that leaves room for a machine that is busy otherwise. */
const FILE_LIMIT_MS = 300_000;
/** On SIGTERM tap prints what was still running; then the process is killed. */
const KILL_AFTER_MS = 5_000;
/** Enough to see the cause; a file that fails everywhere should not hide the others. */
const MAX_FAILURES_SHOWN = 20;
const MAX_STDERR_SHOWN = 8_000;
/** More failed files than these are no accident of timing. */
const MAX_RERUNS = 2;

/** How many of the files that took most are listed at the end. */
const MAX_SLOWEST_SHOWN = 20;
const COST_MODULE = pathToFileURL(join(root, 'deploy', 'test-cost.mjs')).href;

const print = (text) => process.stdout.write(`${text}\n`);

const listTests = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith('.test.js'))
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
        .sort()
    : [];

const findTests = (words) => {
  const nameOf = (file) =>
    relative(join(root, 'dist'), file)
      .split(sep)
      .join('/')
      .replace(/^test\//, '');
  return TEST_FOLDERS.flatMap(listTests)
    .map((file) => ({ file, name: nameOf(file).replace(/\.test\.js$/, '') }))
    .filter(({ name }) => (words.length === 0 ? true : words.some((word) => `test/${name}.test.ts`.includes(word))));
};

/** Counts assertions at any depth; a subtest's own line only sums up what was counted inside it. */
const makeTally = () => {
  const tally = { passed: 0, failed: 0, skipped: 0, failures: [], skips: [] };
  const parser = new Parser();
  const names = [];
  const watch = (node) => {
    node.on('assert', (result) => {
      const isSummary = node.sawChild === true;
      node.sawChild = false;
      const path = [...names, result.name].filter(Boolean).join(' > ');
      if (result.skip) {
        tally.skipped += 1;
        tally.skips.push(`${path}${typeof result.skip === 'string' ? `: ${result.skip}` : ''}`);
      } else if (result.todo) {
        tally.failed += 1; // unfinished work is not a pass
        tally.failures.push({ path: `${path} (todo)`, diag: undefined });
      } else if (result.ok) {
        if (!isSummary) tally.passed += 1;
      } else if (!isSummary || node.childWasClean) {
        tally.failed += 1;
        tally.failures.push({ path, diag: result.diag });
      }
    });
    node.on('child', (child) => {
      const before = tally.failed;
      names.push(child.name);
      watch(child);
      child.on('complete', () => {
        names.pop();
        node.sawChild = true;
        node.childWasClean = tally.failed === before;
      });
    });
  };
  watch(parser);
  return { tally, parser };
};

const runFile = ({ file, name }) =>
  new Promise((resolve) => {
    const since = performance.now();
    const { tally, parser } = makeTally();
    let final;
    let stderr = '';
    let cost = '';
    let isLate = false;
    parser.on('complete', (results) => {
      final = results;
    });
    const child = spawn(process.execPath, ['--enable-source-maps', '--import', COST_MODULE, file], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: {
        ...process.env,
        NODE_ENV: 'test',
        TAP_TIMEOUT: String(FILE_LIMIT_MS / 1000),
        TEST_SEED: seed,
        TEST_RUNNER: String(process.pid),
      },
    });
    const timers = [
      setTimeout(() => {
        isLate = true;
        child.kill('SIGTERM');
      }, FILE_LIMIT_MS),
      setTimeout(() => child.kill('SIGKILL'), FILE_LIMIT_MS + KILL_AFTER_MS),
    ];
    child.stdout.on('data', (chunk) => parser.write(chunk));
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdio[3].on('data', (chunk) => {
      cost += chunk;
    });
    child.once('error', (error) => {
      stderr += error.message;
    });
    child.once('close', (code, signal) => {
      for (const timer of timers) clearTimeout(timer);
      parser.end();
      const end = signal ? `ended by ${signal}` : `exit code ${code}`;
      const isSkippedWhole = final?.plan?.skipAll === true;
      if (isSkippedWhole) {
        tally.skipped += 1;
        tally.skips.push(final.plan.skipReason || 'the whole file');
      }
      const reasons = [
        isLate && `took longer than ${FILE_LIMIT_MS / 1000} s`,
        code !== 0 && end,
        final?.ok !== true && 'the TAP it printed is not ok',
        tally.passed + tally.failed + tally.skipped === 0 && 'it asserted nothing',
      ].filter(Boolean);
      if (reasons.length > 0 && tally.failed === 0) {
        tally.failed += 1;
        tally.failures.push({ path: `(the file itself: ${reasons.join(', ')})`, diag: undefined });
      }
      resolve({ name, tally, stderr, seconds: (performance.now() - since) / 1000, processor: Number(cost) });
    });
  });

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

/** Processor time is what counts on a small machine, and it hardly depends on what else runs. */
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

const isRough = ({ name }) => Number(name.startsWith('rough/'));

const words = process.argv.slice(2);
const seed = process.env.TEST_SEED || String(randomInt(2 ** 31));
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

const queue = findTests(words);
if (queue.length === 0) {
  print(words.length === 0 ? 'no compiled tests; run `npm run build`' : `no test file matches ${words.join(', ')}`);
  total.failed += 1;
}
// Attacks last a fixed time, so they start first.
const waiting = queue.filter(({ name }) => WAITING.test(name)).sort((a, b) => isRough(b) - isRough(a));
const computing = queue.filter(({ name }) => !WAITING.test(name));
const work = async (take) => {
  for (let next = take(); next; next = take()) {
    const result = await runFile(next);
    report(result);
    results.push(result);
    if (result.tally.failed > 0) failed.push({ file: next, tally: result.tally });
    count(result.tally, 1);
  }
};
await Promise.all([
  work(() => waiting.shift()),
  ...Array.from({ length: COMPUTING_LANES }, () => work(() => computing.shift() ?? waiting.shift())),
]);

if (process.env.INTERSTICE_RERUN_FAILED === '1' && failed.length <= MAX_RERUNS) {
  for (const { file, tally } of failed) {
    print(`once more, alone: ${file.name}`);
    const again = await runFile(file);
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
