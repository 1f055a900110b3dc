import { spawnSync } from 'node:child_process';
import t from 'tap';
import { openAdapter } from '../../gpu/device/adapter.js';

/**
 * Lanes whose engine is a device. The binding takes the process down when a thread ends while it waits for its device, so
 * each case runs in a process of its own, which has to end by itself.
 */

// Two lanes compile every kernel at once on two cores, if no cache of the driver has them.
t.setTimeout(600_000);

const isRequired = process.env.INTERSTICE_REQUIRE_GPU === '1';
const opening = await openAdapter({ allowSoftware: true });
await opening.opened?.close();
const needsAdapter = opening.opened || isRequired ? {} : { skip: opening.reason };

const moduleAt = (path: string): string => new URL(`../../${path}.js`, import.meta.url).href;

const PRELUDE = `
  const { Scheduler } = await import('${moduleAt('src/lanes/scheduler')}');
  const { engineSourceOf } = await import('${moduleAt('src/jobs/engines')}');
  const { LIMITS } = await import('${moduleAt('test/support/job')}');
  const { stackSwap } = await import('${moduleAt('test/solver/cases')}');
  const scheduler = new Scheduler({
    engine: engineSourceOf({ engine: 'webgpu', ...OPTIONS }),
    limits: LIMITS,
    allowUnverified: false,
    threads: 2,
    maxQueue: 64,
  });
  const { mesh, start, target } = stackSwap(8).build();
  const resolve = () => scheduler.resolve(
    { request: { mesh, start, target, parameters: {} }, receivedAt: performance.now(), queuedAt: performance.now() },
    { claim: { tenant: 'test', priority: 'INTERACTIVE' } },
  );`;

const run = (program: string, options: object = {}) =>
  spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', `const OPTIONS = ${JSON.stringify(options)};${PRELUDE}${program}`],
    {
      encoding: 'utf8',
    },
  );

t.test('two lanes work on two devices, and can be closed while they work', needsAdapter, async (t) => {
  const { status, signal, stdout, stderr } = run(`
    console.log((await scheduler.hello()).name);
    const answers = await Promise.all(Array.from({ length: 6 }, resolve));
    console.log(answers.map(({ report }) => report.status).join(' '));
    // So many that some wait, however long the thread of this program stands still before it closes.
    const late = Array.from({ length: 40 }, () => resolve().then(({ report }) => report.status, ({ code }) => code));
    await new Promise(setImmediate);
    await scheduler.close();
    console.log((await Promise.all(late)).join(' '));`);
  t.equal(signal, null, 'it ended by itself');
  t.equal(status, 0, stderr);
  const [name, answers, late] = stdout.split('\n');
  t.match(name, /^webgpu: /);
  t.equal(answers, new Array(6).fill('CONVERGED').join(' '));
  t.match(late, /^((CONVERGED|DRAINING) ){39}DRAINING$/);
});

t.test('lanes can be closed while their devices are being opened', needsAdapter, async (t) => {
  const { status, signal, stdout, stderr } = run(`
    const work = [resolve(), resolve()].map((work) => work.catch(({ code }) => code));
    await new Promise(setImmediate);
    await scheduler.close();
    console.log((await Promise.all(work)).join(' '));`);
  t.equal(signal, null);
  t.equal(status, 0, stderr);
  t.match(stdout, /^DRAINING DRAINING/);
});

t.test('a missing adapter refuses hello and every job, with the reason', needsAdapter, async (t) => {
  const { status, signal, stdout, stderr } = run(
    `
    await scheduler.hello().catch(({ code, message }) => console.log(code, message));
    await scheduler.close();`,
    { adapter: 'no such adapter' },
  );
  t.equal(signal, null);
  t.equal(status, 0, stderr);
  t.match(stdout, /^INVALID_PARAMETER The engine webgpu is requested, but .*no such adapter/);
});
