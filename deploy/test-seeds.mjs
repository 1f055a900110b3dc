/**
 * Runs the test files that draw random numbers with many seeds, in the manner of the whole run (shares of long tables):
 * a check that fails with one seed in a hundred makes every hundredth run of `npm test` fail for nothing.
 *
 *     node deploy/test-seeds.mjs --seeds 30 solver/ mesh/      files whose path contains one of the words; all without
 *     node deploy/test-seeds.mjs --seeds 30 --first 1000 gpu/  seeds 1000 to 1029
 *
 * It prints the checks that failed, with their seeds, and those that count something (`t.ok(found > 20, `${found} pairs`)`)
 * where the counts come near to their limit. Counts of random scenes vary by factors, so logarithms are compared: a limit
 * is near where it lies less than SPREADS standard deviations below the mean.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runAlone } from './test-process.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Of normally distributed values, one in a million lies 4.75 below the mean; a whole run has some hundred counts. */
const SPREADS = 5;
/** The logarithm of no event. */
const NONE = 0.5;
/** `t.ok(a > 3 && b > 4, `...`)`; `t.ok(a.b >= 3, `...`)`, with the text of the condition and that of the title. */
const COUNTED = /t\.ok\(\s*([\w.[\]]+ >=? [\d_]+(?: && [\w.[\]]+ >=? [\d_]+)*),\s*`([^`]*)`/g;
const CONDITION = /([\w.[\]]+) (>=?) ([\d_]+)/g;

const print = (text) => process.stdout.write(`${text}\n`);
const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { seeds: { type: 'string', default: '10' }, first: { type: 'string', default: '1' } },
});
const seeds = Array.from({ length: Number(values.seeds) }, (_, k) => String(Number(values.first) + k));

const read = (file) => readFileSync(file, 'utf8');
const importsOf = (file) =>
  [...read(file).matchAll(/from '(\.[^']*)'/g)]
    .map(([, path]) => resolve(dirname(file), path))
    .filter((path) => path.startsWith(join(root, 'dist', 'test')));
const filesAround = (file, found = new Set([file])) => {
  for (const next of importsOf(file)) if (!found.has(next)) filesAround(next, found.add(next));
  return found;
};
const isRandom = (file) => [...filesAround(file)].some((each) => /\bseeded\(\)|TEST_SEED/.test(read(each)));
const nameOf = (file) => relative(join(root, 'dist', 'test'), file).replace(/\.test\.js$/, '');

const tests = readdirSync(join(root, 'dist', 'test'), { recursive: true })
  .filter((path) => path.endsWith('.test.js'))
  .map((path) => join(root, 'dist', 'test', path))
  .map((file) => ({ file, name: nameOf(file) }))
  .filter(({ name }) => words.length === 0 || words.some((word) => `test/${name}.test.ts`.includes(word)))
  .filter(({ file }) => isRandom(file));

const quote = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The counted checks of a file and its helpers: a pattern of the title, and for its groups the limits or undefined. */
const limitsOf = (file) =>
  [...filesAround(file)].flatMap((each) =>
    [...read(each).matchAll(COUNTED)].map(([, condition, title]) => {
      const limits = new Map(
        [...condition.matchAll(CONDITION)].map(([, name, sign, limit]) => [name, { sign, limit }]),
      );
      const parts = title.split(/\$\{([^}]*)\}/);
      const pattern = new RegExp(`^${parts.map((part, k) => (k % 2 ? '(.*?)' : quote(part))).join('')}$`);
      return { pattern, title, groups: parts.filter((_, k) => k % 2).map((name) => limits.get(name)) };
    }),
  );

const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;

function spreadsAbove(counts, least) {
  const logs = counts.map((count) => Math.log(Math.max(count, NONE)));
  const spread = Math.sqrt(mean(logs.map((log) => (log - mean(logs)) ** 2)) * (logs.length / (logs.length - 1)));
  return (mean(logs) - Math.log(least)) / spread;
}

let failures = 0;

async function tryFile({ file, name }) {
  const checks = limitsOf(file);
  const counts = new Map();
  const failed = new Map();
  let processor = 0;
  const onAssert = (title) => {
    for (const { pattern, title: written, groups } of checks) {
      const values = pattern.exec(title)?.slice(1);
      values?.forEach((value, k) => {
        if (groups[k] === undefined || !Number.isFinite(Number(value))) return;
        const key = `${written}  [${groups[k].sign} ${groups[k].limit}]`;
        const least = Number(groups[k].limit.replaceAll('_', '')) + (groups[k].sign === '>' ? 1 : 0);
        const entry = counts.get(key) ?? { least, counts: [] };
        counts.set(key, entry);
        entry.counts.push(Number(value));
      });
    }
  };
  for (const seed of seeds) {
    const result = await runAlone({ file, name }, { seed, isShared: true, namesSources: false }, onAssert);
    processor += result.processor;
    for (const { path } of result.tally.failures) failed.set(path, [...(failed.get(path) ?? []), seed]);
  }
  print(`${failed.size > 0 ? 'FAIL' : ' ok '}  ${name}  (processor ${processor.toFixed(0)} s)`);
  for (const [path, at] of failed) print(`    x ${path}: seeds ${at.join(', ')}`);
  failures += failed.size;
  for (const [key, { least, counts: found }] of counts) {
    if (found.length < 2) continue;
    const spreads = spreadsAbove(found, least);
    if (spreads >= SPREADS) continue;
    print(
      `    near: ${key}: ${Math.min(...found)} to ${Math.max(...found)}, ${spreads.toFixed(1)} standard deviations`,
    );
  }
}

print(`${tests.length} files, ${seeds.length} seeds each`);
const queue = [...tests];
const work = async () => {
  for (let test = queue.shift(); test; test = queue.shift()) await tryFile(test);
};
await Promise.all(Array.from({ length: availableParallelism() }, work));
print(`${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;
