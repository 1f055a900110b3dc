import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { runBench } from '../../src/cli/commands/bench.js';
import { run } from './in-process.js';

t.test('arguments are handed on as they are, and the exit code comes back', async (t) => {
  const module = 'export const main = async (argv) => argv.join() === "--scene,layers,-x" ? 7 : 8;';
  const folder = t.testdir({ 'run.mjs': module });
  t.equal(await runBench(['--scene', 'layers', '-x'], pathToFileURL(join(folder, 'run.mjs'))), 7);
});

t.test('without the benchmark there is a word on where to get it', async (t) => {
  const missing = pathToFileURL(join(t.testdir(), 'run.js'));
  await t.rejects(runBench([], missing), {
    name: 'UsageError',
    message: /clone of the repository, run: npm run bench/,
  });
});

t.test('the help of the benchmark is its own', async (t) => {
  const { stdout } = await run(['bench', '--help']);
  t.notMatch(stdout, /Usage: interstice bench/);
});
