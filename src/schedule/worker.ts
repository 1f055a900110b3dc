import { parentPort, workerData } from 'node:worker_threads';
import { IntersticeError } from '../errors.js';
import type { Engine } from '../solver/types.js';
import { checkJob } from './check-job.js';
import { monotonicMs } from './clock.js';
import { JobFlags, type JobMessage, type WorkerMessage, type WorkerSetup } from './messages.js';
import { resolveJob } from './resolve-job.js';
import { throttle } from './throttle.js';
import { buffersOf } from './transfer.js';
import { exactVerifier } from './verifier.js';

/** The thread that computes: opens its engine once, then does one job after the other. */

/** a person cannot read faster, and the main thread has better things to do */
const PROGRESS_INTERVAL_MS = 50;
/** states that may be under way to their reader: enough to keep both sides busy, few enough to bound the memory */
const STATES_UNDER_WAY = 4;

const setup = workerData as WorkerSetup;
const port = parentPort!;

function send(message: WorkerMessage, isHandedOver = false): void {
  port.postMessage(message, isHandedOver ? buffersOf(message) : []);
}

const { [setup.engine.factory]: createEngine } = (await import(setup.engine.module)) as Record<string, () => Engine>;
if (typeof createEngine !== 'function') {
  throw new Error(`${setup.engine.module} does not export a function ${setup.engine.factory}`);
}
const engine = createEngine();

async function work(message: JobMessage): Promise<void> {
  const flags = new JobFlags(message.flags);
  let sent = 0;
  try {
    const answer =
      message.kind === 'check'
        ? checkJob(message.input, { limits: setup.limits, verifier: exactVerifier })
        : await resolveJob(message.input, {
            engine,
            limits: setup.limits,
            allowUnverified: setup.allowUnverified,
            verifier: exactVerifier,
            now: monotonicMs,
            isCancelled: () => flags.isCancelled,
            onProgress: message.wantsProgress
              ? throttle((progress) => send({ type: 'progress', progress }), PROGRESS_INTERVAL_MS, monotonicMs)
              : undefined,
            onState: message.wantsStates
              ? (positions) => {
                  flags.waitForReader(sent++, STATES_UNDER_WAY);
                  // The job keeps its own array (the next piece starts from it): a copy travels.
                  send({ type: 'state', positions: positions.slice() }, true);
                }
              : undefined,
            onFinding: (finding) => send({ type: 'finding', finding }),
          });
    send({ type: 'done', answer }, true);
  } catch (thrown) {
    send({ type: 'failed', error: describe(thrown) });
  }
}

/** What crosses to the main thread; a fault that nobody foresaw keeps its stack, in the message's cause. */
function describe(thrown: unknown) {
  const plain = IntersticeError.from(thrown).toPlain();
  if (thrown instanceof IntersticeError || !(thrown instanceof Error)) return plain;
  return { ...plain, details: { ...plain.details, cause: thrown.stack } };
}

port.on('message', (message: JobMessage) => void work(message));
send({ type: 'hello', engine: engine.description });
