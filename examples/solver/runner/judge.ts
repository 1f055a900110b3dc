import { findMeetings } from '../../../bench/prove/judge/state-judge.js';
import { readSurface } from '../../../bench/prove/judge/surface.js';
import type { Model } from '../src/model.js';

/**
 * Counts intersections in a state. The judge shares no code with the service: it is the judge of the safety campaigns,
 * and decides only from the mesh and the numbers, exactly.
 */
export function makeJudge({ vertexCount, mesh, isKinematic }: Model): (x: Float64Array) => number {
  const surface = readSurface({ vertexCount, ...mesh, kinematic: isKinematic });
  return (x) => findMeetings(surface, Float32Array.from(x), { kinematicPairs: 'SKIP' }).length;
}
