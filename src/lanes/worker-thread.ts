import { parentPort, workerData } from 'node:worker_threads';
import { IntersticeError } from '../contract/errors.js';
import { checkJob } from '../jobs/check-job.js';
import { monotonicMs, throttle } from '../jobs/clock.js';
import { diagnoseJob } from '../jobs/diagnose-job.js';
import type { JobContext } from '../jobs/job-run.js';
import { openJob } from '../jobs/open-job.js';
import { ResidentScenes } from '../jobs/resident-scenes.js';
import { resolveJob, stepJob } from '../jobs/step-job.js';
import { untangleJob } from '../jobs/untangle-job.js';
import { verifierFor } from '../jobs/verifier.js';
import type { Engine } from '../solver/engine.js';
import { ByteAccount, MemoryShort } from '../threads/account.js';
import { here, team } from '../threads/here.js';
import { KEPT_FREE_BYTES } from '../threads/memory.js';
import { HelperLost } from '../threads/team.js';
import { coreWaitMs } from './core-wait.js';
import {
  type CloseMessage,
  JobFlags,
  type JobMessage,
  type JobReport,
  type JobTypes,
  type NumberedJob,
  type WorkerMessage,
  type WorkerSetup,
} from './messages.js';
import { buffersOf } from './transfer.js';

/* The side of the worker thread: opens its engine once, then runs its jobs: one after the other, or as many at once as the engine takes. */

/** A person cannot read faster, and every message costs the main thread time. */
const PROGRESS_INTERVAL_MS = 50;
/** States in transit to their reader: enough to keep both sides busy, few enough to bound the memory. */
const MAX_STATES_IN_TRANSIT = 4;

const setup = workerData as WorkerSetup;
const port = parentPort!;

function send(message: WorkerMessage, isTransferred = false): void {
  port.postMessage(message, isTransferred ? buffersOf(message) : []);
}

type EngineFactory = (options?: unknown) => Engine | Promise<Engine>;

async function openEngine(): Promise<Engine> {
  const { module, factory, options } = setup.engine;
  const { [factory]: create } = (await import(module)) as Record<string, EngineFactory>;
  if (typeof create !== 'function') throw new Error(`The module ${module} does not export a function ${factory}.`);
  return create(options);
}

/** A refusal with an error code is sent to the main thread; any other failure ends the thread, which reports it. */
async function openEngineOrRefuse(): Promise<Engine> {
  try {
    return await openEngine();
  } catch (thrown) {
    if (!(thrown instanceof IntersticeError)) throw thrown;
    send({ type: 'refused', error: thrown.toPlain() });
    // The main thread ends this thread as soon as it has read the message; until then the thread waits.
    return new Promise<Engine>(() => {});
  }
}

team.memory.open(new ByteAccount(setup.accounts.work));
here.device = new ByteAccount(setup.accounts.device);
team.join(setup.helpers);
const engine = await openEngineOrRefuse();
engine.watchLosses?.((reason) => send({ type: 'device-lost', reason }));
const verifier = verifierFor(engine);
const scenes = new ResidentScenes(verifier.forget);

/** Bytes that this thread keeps for its next job, however long that takes. */
const sharedBytes = (): number =>
  scenes.sharedBytes + (engine.sharedBytes ?? 0) + Math.min(team.memory.freeBytes, KEPT_FREE_BYTES);

/**
 * Free memory of the last job is kept for the next one, unless there is none for this long; the time is shorter if the
 * threads together hold more than {@link SCARCE_SHARE} of their limit. To release it V8 must collect all garbage, and
 * then drops the code of shapes that no object has any longer. Compiling that again takes up to a second of processor
 * time, so a job every few seconds must not cause it.
 */
const KEEP_FREE_MS = { scarce: 2000, ample: 30_000 };
const SCARCE_SHARE = 1 / 2;
let trimming: NodeJS.Timeout | undefined;

function trimWhenIdle(): void {
  const { account } = team.memory;
  if (account.total > SCARCE_SHARE * account.limit) team.memory.trim();
  else trimming = setTimeout(() => team.memory.trim(), KEEP_FREE_MS.ample - KEEP_FREE_MS.scarce).unref();
}

let busy = 0;

async function runJob(message: NumberedJob): Promise<void> {
  clearTimeout(trimming);
  const report = (said: JobReport, isTransferred = false) =>
    send({ type: 'job', id: message.id, report: said }, isTransferred);
  const flags = new JobFlags(message.flags);
  let sent = 0;
  const context: JobContext = {
    engine,
    limits: setup.limits,
    memory: { take: (bytes) => takeMemory(bytes), give: (bytes) => team.memory.account.refund(bytes) },
    allowUnverified: setup.allowUnverified,
    verifier,
    now: monotonicMs,
    isCancelled: () => flags.isCancelled,
    isEnding: () => flags.isEnding,
    coreWaitMs,
    onProgress: message.wantsProgress
      ? throttle((progress) => report({ type: 'progress', progress }), PROGRESS_INTERVAL_MS, monotonicMs)
      : undefined,
    onUntangleProgress: message.wantsProgress
      ? throttle((progress) => report({ type: 'untangle-progress', progress }), PROGRESS_INTERVAL_MS, monotonicMs)
      : undefined,
    onPhase: message.wantsProgress ? (phase) => report({ type: 'phase', phase }) : undefined,
    onState: message.wantsStates
      ? (positions, at, origin) => {
          flags.waitForReader(sent++, MAX_STATES_IN_TRANSIT);
          // A copy is sent: the job keeps its own array, because the next piece starts from it.
          report({ type: 'state', positions: positions.slice(), at, origin: origin?.leftOut && origin }, true);
        }
      : undefined,
    onFinding: (finding) => report({ type: 'finding', finding }),
  };
  const key = keyOf(message);
  const end = () => ({
    held: key === undefined ? undefined : scenes.heldOf(key),
    sharedBytes: sharedBytes(),
    convoy: engine.convoyCounts,
  });
  if (busy++ === 0) team.setBusy(true);
  try {
    const answer = await compute(message, context);
    report({ type: 'done', answer, ...end() }, true);
  } catch (thrown) {
    report({ type: 'failed', error: describe(thrown), ...end() });
  } finally {
    if (--busy === 0) {
      team.setBusy(false);
      trimming = setTimeout(trimWhenIdle, KEEP_FREE_MS.scarce).unref();
    }
  }
  if (message.kind === 'step') scenes.prepareStart(message.input.state.key);
}

async function compute(message: JobMessage, context: JobContext): Promise<JobTypes[keyof JobTypes]['answer']> {
  switch (message.kind) {
    case 'resolve':
      return resolveJob(message.input, context);
    case 'check':
      return checkJob(message.input, context);
    case 'diagnose':
      return diagnoseJob(message.input, context);
    case 'untangle':
      return untangleJob(message.input, context);
    case 'open':
      return openJob(message.input, scenes, context);
    case 'step':
      return stepJob(message.input, scenes, context);
    case 'park': {
      const { key, isForGood } = message.input;
      try {
        return isForGood ? null : await scenes.readLast(key);
      } finally {
        scenes.drop(key);
        if (scenes.count === 0) team.memory.trim(0);
      }
    }
    case 'save':
      return (await scenes.find(message.input.key)?.copy()) ?? null;
  }
}

/** Counts memory that a job keeps besides its engine. @throws MemoryShort */
function takeMemory(bytes: number): void {
  const { account } = team.memory;
  if (account.charge(bytes)) return;
  team.memory.trim(0);
  if (!account.charge(bytes)) throw account.shortOf(bytes);
}

/** The key of the job's scene, if it has one. */
function keyOf(message: JobMessage): number | undefined {
  switch (message.kind) {
    case 'open':
    case 'step':
      return message.input.state.key;
    case 'park':
    case 'save':
      return message.input.key;
    default:
      return undefined;
  }
}

/** An error as it is sent to the main thread; an unexpected one keeps its stack, as the cause in its details. */
function describe(thrown: unknown) {
  if (thrown instanceof HelperLost) {
    const hint = 'Nothing changed; send the request again.';
    return new IntersticeError('DEVICE_LOST', thrown.message, { cause: thrown, hint }).toPlain();
  }
  if (thrown instanceof MemoryShort) return outOfMemory(thrown).toPlain();
  const plain = IntersticeError.from(thrown).toPlain();
  if (thrown instanceof IntersticeError || !(thrown instanceof Error)) return plain;
  return { ...plain, details: { ...plain.details, cause: thrown.stack } };
}

/** The job does not fit beside the memory of other requests and sessions. */
function outOfMemory(short: MemoryShort): IntersticeError {
  return new IntersticeError(
    'OUT_OF_DEVICE_MEMORY',
    `The work of this request does not fit in memory now: ${short.message}`,
    {
      cause: short,
      retryAfterSeconds: 1,
      hint: 'Nothing changed. Send the request again when other requests have finished, or ask the operator to raise INTERSTICE_MAX_WORK_BYTES.',
    },
  );
}

const running = new Set<Promise<void>>();

function begin(message: NumberedJob): void {
  const job = runJob(message);
  running.add(job);
  void job.finally(() => running.delete(job));
}

/**
 * A running job fails when the engine closes; its caller has already been answered. It still releases its buffers, and
 * ending a thread during a call of the device's library ends the whole process, so the thread is not closed before.
 */
async function close(): Promise<void> {
  await engine.close();
  await Promise.allSettled(running);
  send({ type: 'closed' });
}

port.on('message', (message: NumberedJob | CloseMessage) => void (message.kind === 'close' ? close() : begin(message)));
const { description, isCostlyToOpen, together } = engine;
send({ type: 'hello', engine: description, isCostly: isCostlyToOpen ?? false, together });
