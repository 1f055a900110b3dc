/*
 * Estimates the time of requests on a server GPU from quantities that can be counted without one. The constants are
 * those of a card that was measured (docs/measurements.md); requests take up to three times as long, or half as long.
 * A run of `--suite hardware` on another card measures its constants (bench/hardware/calibration.ts).
 */

/** Times of an NVIDIA H100, measured on three machines, which differ by up to a third. */
export const H100 = {
  /**
   * µs per dispatch, with or without work, that waits for the previous one: its launch and the barrier between the two
   */
  dependentDispatch: 3.2,
  /**
   * µs per turn of one workgroup: some loads from memory, a projection, and a barrier. 1.1 if a turn has few contacts,
   * up to 3.3 otherwise
   */
  turn: 2.0,
  /** µs of the host to record a dispatch; a part of it while the device works */
  recording: 3.4,
  /**
   * ms from the completion of the work of a submission until its status is on the host: a fence, a wake-up and a new
   * submission
   */
  roundTrip: 0.065,
  /** GB/s from the device to the host */
  readBack: 3.5,
  /** GB/s of the device's memory */
  memory: 2200,
} as const;

/** The counts of a request that the model needs. */
export interface Counts {
  readonly dispatches: number;
  /** turns of one workgroup, over contacts and over colours of edges */
  readonly turns: number;
  readonly readings: number;
  readonly bytesRead: number;
  /**
   * steps that the request needed, each of which reads all data of the scene once: an upper estimate, because most
   * pairs are skipped
   */
  readonly steps: number;
  /** bytes that the scene holds on the device */
  readonly bytesHeld: number;
}

/** Milliseconds, by cause. */
export interface Modelled {
  readonly dispatches: number;
  readonly recording: number;
  readonly turns: number;
  readonly readings: number;
  readonly memory: number;
  /** one after the other: an upper estimate if steps are recorded while others run */
  readonly all: number;
}

export function modelOf(counts: Counts, card: Readonly<Record<keyof typeof H100, number>> = H100): Modelled {
  const milliseconds = (bytes: number, gigabytesPerSecond: number): number => bytes / 1e6 / gigabytesPerSecond;
  const parts = {
    dispatches: (counts.dispatches * card.dependentDispatch) / 1000,
    recording: (counts.dispatches * card.recording) / 1000,
    turns: (counts.turns * card.turn) / 1000,
    readings: counts.readings * card.roundTrip + milliseconds(counts.bytesRead, card.readBack),
    memory: milliseconds(counts.steps * counts.bytesHeld, card.memory),
  };
  return { ...parts, all: Object.values(parts).reduce((sum, part) => sum + part, 0) };
}

/** A target time for a request on that card. */
interface Bar {
  readonly scene: string;
  readonly request: string;
  /** least and largest number of vertices of the mesh */
  readonly vertices: readonly [number, number];
  readonly milliseconds: number;
}

/** All are for FAST, which is Algorithm 1 alone. */
const BARS: readonly Bar[] = [
  { scene: 'dress', request: 'first', vertices: [0, Infinity], milliseconds: 1.5 },
  { scene: 'layers', request: 'slow frame', vertices: [65_000, 75_000], milliseconds: 1 },
  // A million triangles.
  { scene: 'layers', request: 'first', vertices: [450_000, 550_000], milliseconds: 40 },
];

/** Target time of such a request in milliseconds; undefined = there is none. */
export const barOf = (scene: string, quality: string, request: string, vertices: number): number | undefined =>
  BARS.find(
    (bar) =>
      quality === 'FAST' &&
      bar.scene === scene &&
      bar.request === request &&
      vertices >= bar.vertices[0] &&
      vertices <= bar.vertices[1],
  )?.milliseconds;

/** Largest desirable number of turns of one workgroup per step, over contacts. */
export const MOST_TURNS_OF_STEP = 32;
