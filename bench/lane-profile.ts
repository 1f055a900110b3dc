import { type Profiler, Session } from 'node:inspector';
import { basename } from 'node:path';

/** Microseconds between two samples. */
const INTERVAL = 500;

/** The work of a lane's thread, milliseconds. */
export interface LaneProfile {
  /** within runs that other threads could share (src/threads/team.ts), including waiting for them */
  readonly shared: number;
  /** everything else, and its files, longest first */
  readonly serial: number;
  readonly files: readonly (readonly [file: string, milliseconds: number])[];
}

/** Milliseconds. */
const KEEP_ALIVE = 1000;

/** The entry module of lanes. */
const LANE = 'thread-entry.js';

interface Reply {
  readonly id?: number;
  readonly error?: { readonly message: string };
  readonly result?: unknown;
}

/** Profiles the busiest thread among the lanes of this process, all of which must have started, while `work` runs. */
export async function profileLane(work: () => Promise<unknown>): Promise<LaneProfile> {
  const session = new Session();
  session.connect();
  const lanes: string[] = [];
  const waiting = new Map<number, (reply: Reply) => void>();
  session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
    if (workerInfo.url.endsWith(LANE)) lanes.push(sessionId);
  });
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    const reply = JSON.parse(params.message) as Reply;
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
  });
  // Neither an inspector nor an idle lane keeps the process alive.
  const alive = setInterval(() => {}, KEEP_ALIVE);
  let last = 0;
  const ask = (sessionId: string, method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, ({ error, result }) => (error ? reject(new Error(error.message)) : resolve(result)));
      session.post('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify({ id, method, params }) });
    });
  try {
    await new Promise<void>((resolve, reject) => {
      const done = (error: Error | null): void => (error ? reject(error) : resolve());
      session.post('NodeWorker.enable', { waitForDebuggerOnStart: false }, done);
    });
    for (const lane of lanes) {
      await ask(lane, 'Profiler.enable');
      await ask(lane, 'Profiler.setSamplingInterval', { interval: INTERVAL });
      await ask(lane, 'Profiler.start');
    }
    await work();
    const profiles: LaneProfile[] = [];
    for (const lane of lanes) {
      const { profile } = (await ask(lane, 'Profiler.stop')) as { readonly profile: Profiler.Profile };
      profiles.push(summarise(profile));
    }
    if (profiles.length === 0) throw new Error('This process has no lane to profile.');
    return profiles.reduce((a, b) => (a.shared + a.serial >= b.shared + b.serial ? a : b));
  } finally {
    clearInterval(alive);
    session.disconnect();
  }
}

/** Frames without work: the thread waits for a job. */
const IDLE = new Set(['(idle)', '(root)']);

/** Sums samples by their location. */
export function summarise({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): LaneProfile {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const isShared = new Set<number>();
  // Parents precede their children.
  for (const { id, callFrame, children = [] } of nodes) {
    if (callFrame.functionName === '#share' && callFrame.url.endsWith('/team.js')) isShared.add(id);
    if (isShared.has(id)) for (const child of children) isShared.add(child);
  }
  let shared = 0;
  const files = new Map<string, number>();
  for (const [n, id] of samples.entries()) {
    const { functionName, url } = byId.get(id)?.callFrame ?? { functionName: '(root)', url: '' };
    const milliseconds = timeDeltas[n] / 1000;
    if (IDLE.has(functionName)) continue;
    if (isShared.has(id)) {
      shared += milliseconds;
      continue;
    }
    const file = url === '' ? functionName : basename(url, '.js');
    files.set(file, (files.get(file) ?? 0) + milliseconds);
  }
  const sorted = [...files].sort(([, a], [, b]) => b - a);
  return { shared, serial: sorted.reduce((sum, [, time]) => sum + time, 0), files: sorted };
}
