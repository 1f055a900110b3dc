import type { Test } from 'tap';
import { SCENES } from '../../examples/scenes/index.js';
import type { MeshInput } from '../../src/contract/mesh.js';
import type { ParametersInput } from '../../src/contract/parameters.js';
import type { Report } from '../../src/contract/report.js';
import type { Engine } from '../../src/solver/engine.js';
import { DirectSession } from './scenes.js';

/** Frames between the start and the full motion, and back a little: some search, some use the pairs of the last ones. */
export const SHARES = [0.1, 0.16, 0.17, 0.4, 0.38, 0.7, 1, 0.95];

export interface Motion {
  readonly mesh: MeshInput;
  readonly start: Float32Array | Float64Array;
  readonly frames: readonly (Float32Array | Float64Array)[];
}

export function motionOf(name: string, vertices: number): Motion {
  const { vertexCount, triangles, segments, particles, kinematicFrom, start, target } = SCENES[name]!(vertices);
  const kinematic = Uint8Array.from({ length: vertexCount }, (_, v) => (v < kinematicFrom ? 0 : 1));
  const from = Float32Array.from(start);
  const frames = SHARES.map((share) => from.map((x, i) => x + share * (target[i]! - x)));
  return { mesh: { vertexCount, triangles, segments, particles, kinematic }, start: from, frames };
}

/** Doubles far from the origin: the engine's coordinates depend on where the first state was. */
export function farAway({ mesh, start, frames }: Motion): Motion {
  const move = (positions: Float32Array | Float64Array) => Float64Array.from(positions, (x) => x + 1234.567);
  return { mesh, start: move(start), frames: frames.map(move) };
}

/** What of a report depends neither on time nor on what the verifier remembers, which a parked session gives up. */
export function lasting({ timings, ...report }: Report): object {
  const { pairsTested, doubtfulPairs, ...verification } = report.verification;
  return { ...report, verification };
}

/**
 * The same frames with and without parking in between.
 *
 * @param isParked asked before each frame
 * @returns frames that began with the pairs of the one before
 */
export async function compare(
  t: Test,
  motion: Motion,
  parameters: ParametersInput,
  engine: () => Engine,
  isParked = () => true,
): Promise<number> {
  const resident = new DirectSession(motion, engine());
  const parked = new DirectSession(motion, engine());
  for (const session of [resident, parked]) await session.open(parameters);
  let reused = 0;
  for (const [k, target] of motion.frames.entries()) {
    if (isParked()) await parked.park();
    const expected = await resident.step(target, { parameters });
    const answer = await parked.step(target, { parameters });
    t.same(answer.positions, expected.positions, `frame ${k + 1}`);
    t.same(lasting(answer.report), lasting(expected.report), `the report of frame ${k + 1}`);
    t.equal(answer.report.sessionRebuilt, false);
    if (expected.report.proximitySetReused) reused++;
  }
  for (const session of [resident, parked]) await session.park();
  return reused;
}
