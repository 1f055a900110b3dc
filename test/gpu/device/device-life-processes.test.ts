import { spawn } from 'node:child_process';
import t from 'tap';
import { openAdapter } from '../../../gpu/device/adapter.js';

/**
 * Processes that use devices on several threads must end by themselves. The binding crashes the whole process when a thread
 * ends while it waits for a device: the engine has to be closed before its thread ends.
 */

// Two threads compile every kernel at once on two cores, unless the driver has them in a cache.
t.setTimeout(600_000);
const LIMIT_MS = 290_000;

const isRequired = process.env.INTERSTICE_REQUIRE_GPU === '1';
const opening = await openAdapter({ allowSoftware: true });
await opening.opened?.close();
const needsAdapter = opening.opened || isRequired ? {} : { skip: opening.reason };

const moduleAt = (path: string): string => new URL(`../../../${path}.js`, import.meta.url).href;

const PRELUDE = `
  const { parentPort } = await import('node:worker_threads');
  const { createGpuEngine } = await import('${moduleAt('gpu/engine')}');
  const { openCase } = await import('${moduleAt('test/support/open-case')}');
  const { stackSwap } = await import('${moduleAt('test/solver/cases')}');
  const { engine, reason } = await createGpuEngine({ allowSoftware: true });
  if (!engine) throw new Error(reason);
  const { mesh, start, target } = stackSwap(8).build();
  const round = async () => {
    const { scene, resolve } = await openCase(engine, mesh, start, target);
    const { status, positions } = await resolve();
    scene.close();
    if (status !== 'CONVERGED') throw new Error(status);
    return Buffer.from(positions.buffer).toString('base64');
  };`;

interface Ending {
  readonly status: number | null;
  readonly signal: string | null;
  readonly output: string;
}

/** Runs a program in a process of its own, which must end by itself. */
function run(program: string): Promise<Ending> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { timeout: LIMIT_MS });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    child.on('close', (status, signal) => resolve({ status, signal, output }));
  });
}

/** A program that starts threads and waits for one message of each. */
const onThreads = (count: number, worker: string, after: string): string => `
  const { Worker } = await import('node:worker_threads');
  const { once } = await import('node:events');
  const code = 'data:text/javascript,' + encodeURIComponent(${JSON.stringify(`${PRELUDE}\n${worker}`)});
  const workers = Array.from({ length: ${count} }, () => new Worker(new URL(code), { execArgv: [] }));
  for (const worker of workers) worker.on('error', (error) => { console.log(error); process.exitCode = 9; });
  const heard = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
  ${after}`;

t.test('Two threads work at the same time, each with a device of its own.', needsAdapter, async (t) => {
  const worker = `
    const answers = new Set();
    for (let n = 0; n < 20; n++) answers.add(await round());
    await engine.close();
    parentPort.postMessage([...answers]);`;
  const { status, signal, output } = await run(
    onThreads(2, worker, "const all = new Set(heard.flat()); console.log('answers:', all.size);"),
  );
  t.equal(signal, null, 'it ended by itself');
  t.equal(status, 0, output);
  t.match(output, 'answers: 1', 'every round on either thread gives the same bytes');
});

t.test('A thread whose engine was closed under load can be terminated at once.', needsAdapter, async (t) => {
  const worker = `
    parentPort.on('message', async () => {
      await engine.close();
      parentPort.postMessage('closed');
    });
    await round();
    parentPort.postMessage('at work');
    for (;;) await round().catch((error) => error.code === 'DEVICE_LOST' ? new Promise(() => {}) : undefined);`;
  const after = `
    for (const worker of workers) {
      worker.postMessage('close');
      console.log(await once(worker, 'message'), await worker.terminate());
    }
    console.log('survived');`;
  const { status, signal, output } = await run(onThreads(2, worker, after));
  t.equal(signal, null);
  t.equal(status, 0, output);
  t.match(output, 'survived');
});

t.test('A process that closes its engine under load ends by itself.', needsAdapter, async (t) => {
  const program = `${PRELUDE}
    const work = [round(), round()].map((work) => work.catch((error) => error.code));
    await new Promise(setImmediate);
    await engine.close();
    console.log(await Promise.all(work));`;
  const { status, signal, output } = await run(program);
  t.equal(signal, null);
  t.equal(status, 0, output);
  t.match(output, 'DEVICE_LOST');
});
