import { parentPort, workerData } from 'node:worker_threads';
import { IntersticeError } from '../contract/errors.js';
import { checkJob } from '../jobs/check-job.js';
import { monotonicMs, throttle } from '../jobs/clock.js';
import type { JobContext } from '../jobs/job-run.js';
import { openJob } from '../jobs/open-job.js';
import { ResidentScenes } from '../jobs/resident-scenes.js';
import { resolveJob, stepJob } from '../jobs/step-job.js';
import { verifierFor } from '../jobs/verifier.js';
import type { Engine } from '../solver/engine.js';
import {
  type EndMessage,
  JobFlags,
  type JobMessage,
  type Jobs,
  type WorkerMessage,
  type WorkerSetup,
} from './messages.js';
import { buffersOf } from './transfer.js';

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

type EngineFactory = (options?: unknown) => Engine | Promise<Engine>;

async function openEngine(): Promise<Engine> {
  const { module, factory, options } = setup.engine;
  const { [factory]: create } = (await import(module)) as Record<string, EngineFactory>;
  if (typeof create !== 'function') throw new Error(`${module} does not export a function ${factory}`);
  return create(options);
}

/** A refusal with a code goes to whoever waits for this thread; any other fault ends the thread, which tells them as well. */
async function openEngineOrEnd(): Promise<Engine> {
  try {
    return await openEngine();
  } catch (thrown) {
    if (!(thrown instanceof IntersticeError)) throw thrown;
    send({ type: 'refused', error: thrown.toPlain() });
    // The main thread ends this one as soon as it has read the message; until then nothing may happen here.
    return new Promise<Engine>(() => {});
  }
}

const engine = await openEngineOrEnd();
const scenes = new ResidentScenes();
const verifier = verifierFor(engine);

/** What this thread keeps for whatever job is next. */
const sharedBytes = (): number => scenes.sharedBytes + (engine.sharedBytes ?? 0);

async function work(message: JobMessage): Promise<void> {
  const flags = new JobFlags(message.flags);
  let sent = 0;
  const context: JobContext = {
    engine,
    limits: setup.limits,
    allowUnverified: setup.allowUnverified,
    verifier,
    now: monotonicMs,
    isCancelled: () => flags.isCancelled,
    onProgress: message.wantsProgress
      ? throttle((progress) => send({ type: 'progress', progress }), PROGRESS_INTERVAL_MS, monotonicMs)
      : undefined,
    onState: message.wantsStates
      ? (positions, at) => {
          flags.waitForReader(sent++, STATES_UNDER_WAY);
          // The job keeps its own array (the next piece starts from it): a copy travels.
          send({ type: 'state', positions: positions.slice(), at }, true);
        }
      : undefined,
    onFinding: (finding) => send({ type: 'finding', finding }),
  };
  const key = keyOf(message);
  const held = () => (key === undefined ? undefined : scenes.heldOf(key));
  try {
    const answer = await doJob(message, context);
    send({ type: 'done', answer, held: held(), sharedBytes: sharedBytes() }, true);
  } catch (thrown) {
    send({ type: 'failed', error: describe(thrown), held: held(), sharedBytes: sharedBytes() });
  }
  if (message.kind === 'step') scenes.prepareStart(message.input.state.key);
}

async function doJob(message: JobMessage, context: JobContext): Promise<Jobs[keyof Jobs]['answer']> {
  switch (message.kind) {
    case 'resolve':
      return resolveJob(message.input, context);
    case 'check':
      return checkJob(message.input, context);
    case 'open':
      return openJob(message.input, scenes, context);
    case 'step':
      return stepJob(message.input, scenes, context);
    case 'park': {
      const { key } = message.input;
      const mesh = scenes.find(key)?.held.mesh;
      if (mesh) verifier.forget?.(mesh);
      scenes.drop(key);
      return null;
    }
  }
}

/** The scene that a job is about. */
function keyOf(message: JobMessage): number | undefined {
  switch (message.kind) {
    case 'open':
    case 'step':
      return message.input.state.key;
    case 'park':
      return message.input.key;
    default:
      return undefined;
  }
}

/** What crosses to the main thread; a fault that nobody foresaw keeps its stack, in the message's cause. */
function describe(thrown: unknown) {
  const plain = IntersticeError.from(thrown).toPlain();
  if (thrown instanceof IntersticeError || !(thrown instanceof Error)) return plain;
  return { ...plain, details: { ...plain.details, cause: thrown.stack } };
}

/** A job at work fails as the engine closes; nobody is there to hear it any more. */
async function end(): Promise<void> {
  await engine.close();
  send({ type: 'ended' });
}

port.on('message', (message: JobMessage | EndMessage) => void (message.kind === 'end' ? end() : work(message)));
send({ type: 'hello', engine: engine.description });
