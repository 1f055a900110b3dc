const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** Bytes; each is the default of a setting. */
export interface MemoryShares {
  /** bodies of requests */
  readonly bodies: number;
  /** meshes and states of sessions */
  readonly sessions: number;
  /** requests and results of submitted jobs */
  readonly jobs: number;
  /** waiting requests, and as much again for steps that wait behind others of their sessions */
  readonly queue: number;
  /** arrays that requests compute on */
  readonly work: number;
  /** pairs of one request, which are part of `work` */
  readonly pairs: number;
  /** scenes that lanes hold for sessions, on an engine that keeps them in the memory of the host */
  readonly scenes: number;
}

/** What the program takes without any request, with room: its code, the heaps of its threads, and what its libraries allocate. */
const PROGRAM_BYTES = 384 * MiB;

/**
 * Divides the memory that the process may use so that all shares together, the queue counted twice, are less than the
 * whole: a full service then refuses requests, and is not ended by the system. From 32 GiB on every share has its largest
 * size, and scenes have the rest. A scene takes about five times the bytes of its session, so idle scenes are parked
 * before any session is refused.
 *
 * @param memory bytes
 */
export function divideMemory(memory: number): MemoryShares {
  const share = (part: number, most: number) => Math.floor(Math.min(most, memory * part));
  // A body with a mesh and its start exists once as bytes; arrays, scene and answer that result from it have other shares.
  const bodies = Math.max(64 * MiB, share(1 / 4, 4 * GiB));
  const sessions = share(1 / 8, 4 * GiB);
  const jobs = share(1 / 16, GiB);
  const queue = share(1 / 32, GiB);
  const rest = memory - bodies - sessions - jobs - 2 * queue - PROGRAM_BYTES;
  const fewestScenes = memory / 8;
  const work = Math.floor(Math.min(memory / 2, Math.max(memory / 4, rest - fewestScenes)));
  const scenes = Math.floor(Math.max(fewestScenes, rest - work));
  return { bodies, sessions, jobs, queue, work, pairs: share(1 / 4, 4 * GiB), scenes };
}
