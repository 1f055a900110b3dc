import { join } from 'node:path';
import { mock } from 'node:test';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { projectRoot } from '../../src/paths.js';

/* The processes in which test files run, under a clock that only moves when the test moves it. */

interface TestFile {
  readonly file: string;
  readonly name: string;
  readonly mayShare: boolean;
}
interface Result {
  readonly name: string;
  readonly tally: {
    readonly passed: number;
    readonly failed: number;
    readonly failures: readonly { readonly path: string }[];
  };
}
interface Lane {
  run(file: TestFile): Promise<Result>;
  end(): Promise<readonly Result[]>;
}
const processes = (await import(pathToFileURL(join(projectRoot, 'deploy', 'test-process.mjs')).href)) as {
  readonly Lane: new (manner: {
    readonly seed: string;
    readonly isShared: boolean;
    readonly namesSources: boolean;
  }) => Lane;
};

/** Longer than any file, or the end of a process, may take, with the time until it is killed. */
const TOO_LONG_MS = 1_000_000;

mock.timers.enable({ apis: ['setTimeout'] });
t.teardown(() => mock.timers.reset());

const folder = t.testdir({
  'passes.mjs': `import t from 'tap'; t.pass();`,
  'passes-too.mjs': `import t from 'tap'; t.pass();`,
  'hangs.mjs': `import t from 'tap'; t.pass(); t.test('hangs', () => new Promise(() => setInterval(() => 0, 1_000)));`,
  'stays.mjs': `import t from 'tap'; t.pass(); setInterval(() => 0, 1_000);`,
});
const shared = (name: string): TestFile => ({ file: join(folder, `${name}.mjs`), name, mayShare: true });
const makeLane = (): Lane => new processes.Lane({ seed: '1', isShared: false, namesSources: false });
const counts = ({ tally }: Result): readonly number[] => [tally.passed, tally.failed];

t.test('a process that waits for its next file has no limit of time', async (t) => {
  const lane = makeLane();
  t.strictSame(counts(await lane.run(shared('passes'))), [1, 0]);
  mock.timers.tick(TOO_LONG_MS);
  t.strictSame(counts(await lane.run(shared('passes-too'))), [1, 0]);
  t.strictSame(await lane.end(), [], 'and ends without a fault');
});

t.test('a file that takes too long is ended and fails', async (t) => {
  const lane = makeLane();
  const running = lane.run(shared('hangs'));
  mock.timers.tick(TOO_LONG_MS);
  const { tally } = await running;
  t.equal(tally.failed, 1);
  t.match(tally.failures[0]?.path, /took longer than/);
  t.strictSame(await lane.end(), [], 'which is counted once');
});

t.test('a process that does not end after its last file is ended, and counts as a failure', async (t) => {
  const lane = makeLane();
  t.strictSame(counts(await lane.run(shared('stays'))), [1, 0]);
  const ending = lane.end();
  mock.timers.tick(TOO_LONG_MS);
  const [fault, ...others] = await ending;
  t.strictSame(others, []);
  t.match(fault?.name, /after all of them, in one process with stays/);
  t.match(fault?.tally.failures[0]?.path, /took longer than/);
});
