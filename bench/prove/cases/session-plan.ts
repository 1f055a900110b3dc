import type { Positions } from '../../../src/contract/mesh.js';
import type { Surface } from '../judge/surface.js';
import type { Random } from '../scenes/random.js';

/** What a client may do in a frame of a session. */
export type Move =
  /** a whole target, a little away from the last one */
  | 'DRIFT'
  /** the same, sent by {@link Door.stepFast} */
  | 'DRIFT_FAST'
  /** nothing new: continue towards the last target */
  | 'REST'
  /** the target is the state itself */
  | 'STAY'
  /** targets for some parts only */
  | 'PARTS'
  /** an explicit start: an earlier answer of this session */
  | 'BACK'
  /** other kinematic vertices from now on */
  | 'PIN'
  /** the last frame once more, with the same payload; then with another; then an older frame */
  | 'AGAIN'
  /** the client hangs up, and sends the frame again: the same payload, or another */
  | 'HANG_UP'
  /** steps that must be refused and change nothing */
  | 'REFUSED'
  /** the session is closed, and created again from the last answer */
  | 'RENEW'
  /** a target in float32, while all others are float64 */
  | 'NARROW'
  /** nothing for a while, so that the session may be parked or expire */
  | 'WAIT';

const SHARES: readonly (readonly [Move, number])[] = [
  ['DRIFT', 0.34],
  ['DRIFT_FAST', 0.16],
  ['REST', 0.08],
  ['STAY', 0.05],
  ['PARTS', 0.1],
  ['BACK', 0.06],
  ['PIN', 0.05],
  ['AGAIN', 0.05],
  ['HANG_UP', 0.04],
  ['REFUSED', 0.03],
  ['RENEW', 0.02],
  ['NARROW', 0.02],
];

/** A session with a disturbance in every other frame. */
const ROUGH_SHARES: readonly (readonly [Move, number])[] = [
  ['DRIFT', 0.25],
  ['DRIFT_FAST', 0.1],
  ['PARTS', 0.05],
  ['BACK', 0.05],
  ['AGAIN', 0.1],
  ['HANG_UP', 0.2],
  ['REFUSED', 0.1],
  ['RENEW', 0.05],
  ['WAIT', 0.1],
];

/** The first frames are plain, so that there is something to return to. */
const PLAIN_FRAMES = 3;

export function drawMove(frame: number, random: Random, isRough = false): Move {
  let rest = random.next();
  if (frame <= PLAIN_FRAMES) return 'DRIFT';
  for (const [move, share] of isRough ? ROUGH_SHARES : SHARES) {
    rest -= share;
    if (rest < 0) return move;
  }
  return 'DRIFT';
}

/** Moves to the target and back, with a small random part: neighbouring frames are close, so that proximity sets are reused. */
export function aimAt(start: Positions, target: Positions, frame: number, random: Random): Positions {
  const share = Math.sin(frame * 0.06) ** 2;
  const noise = 1e-3 * random.between(-1, 1);
  const y = target instanceof Float64Array ? new Float64Array(start.length) : new Float32Array(start.length);
  for (let i = 0; i < y.length; i++) y[i] = start[i] + (share + noise) * (target[i] - start[i]);
  return y;
}

/** Every group of vertices changes its place or stays, whatever the others do: its target is that of the scene, or its start. */
export function changePlaces(start: Positions, target: Positions, ways: Uint8Array, random: Random): Positions {
  const areThere = Array.from({ length: 1 + Math.max(...ways) }, () => random.next() < 0.5);
  return target.map((p, i) => (areThere[ways[Math.floor(i / 3)]] ? p : start[i])) as Positions;
}

/**
 * Pins a few vertices besides those that the scene already holds. No two of them are neighbours, and none is a
 * neighbour of a vertex that is held: then no edge or triangle becomes kinematic as a whole, and every pair stays
 * promised.
 */
export function pinSome(surface: Surface, random: Random): Uint8Array {
  const { kinematic, edges, lengths, particles } = surface;
  const flags = kinematic.slice();
  // A grain would become a kinematic element by itself.
  const isTaken = new Set(particles.map(([v]) => v));
  const neighbours = new Map<number, number[]>();
  for (const [a, b] of [...edges, ...lengths]) {
    neighbours.set(a, [...(neighbours.get(a) ?? []), b]);
    neighbours.set(b, [...(neighbours.get(b) ?? []), a]);
  }
  for (let n = 0; n < MAX_PINS; n++) {
    const v = random.below(surface.vertexCount);
    if (flags[v] || isTaken.has(v) || (neighbours.get(v) ?? []).some((other) => flags[other])) continue;
    flags[v] = 1;
  }
  return flags;
}

const MAX_PINS = 6;

/** The target with the pinned vertices where they are: otherwise the caller would ask a pin to move through others. */
export function holdPins(y: Positions, x: Positions, flags: Uint8Array, base: Uint8Array): Positions {
  const held = y.slice() as Positions;
  for (let v = 0; v < flags.length; v++) {
    if (flags[v] && !base[v]) for (let c = 0; c < 3; c++) held[3 * v + c] = x[3 * v + c];
  }
  return held;
}
