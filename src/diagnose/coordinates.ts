import type { DiagnosisFinding } from '../contract/diagnosis.js';
import { finding, type Subject, show, vertexRef } from './subject.js';
import { extentOf } from './units.js';

/**
 * Ratio of the rounding of a coordinate to the median edge from which on it is reported: δ is a tenth of an edge, and
 * contacts leave an eighth of δ, so that a thousandth of an edge is 8 % of the gap.
 */
const COARSE_ROUNDING = 1e-3;

/** Distance from the origin, in extents of the mesh, from which on the diagnosis advises to move it. */
const FAR = 100;

/** Finds coordinates so far from the origin that their rounding (one unit in the last place) matters for an edge. */
export function findCoarseCoordinates(subject: Subject): DiagnosisFinding[] {
  const { mesh, x, medianEdge, precision } = subject;
  if (medianEdge === 0) return [];
  let [largest, farthest] = [0, 0];
  for (const v of mesh.contactVertices) {
    const size = Math.max(Math.abs(x[3 * v]), Math.abs(x[3 * v + 1]), Math.abs(x[3 * v + 2]));
    if (size > largest) [largest, farthest] = [size, v];
  }
  const rounding = precision * largest;
  const extent = extentOf(subject);
  if (rounding < COARSE_ROUNDING * medianEdge && largest < FAR * extent) return [];
  const isCoarse = rounding >= COARSE_ROUNDING * medianEdge;
  const message = `The mesh is ${show(largest)} from the origin, ${show(largest / extent)} times its extent; coordinates are rounded to ${show(rounding)} there, ${show(rounding / medianEdge)} of an edge.`;
  return [
    finding({
      code: 'FAR_FROM_ORIGIN',
      severity: isCoarse ? 'WARNING' : 'NOTE',
      count: 1,
      measure: rounding,
      unit: 'length',
      elements: [vertexRef(farthest)],
      message,
      advice: isCoarse
        ? 'Move start and target to the origin by the same whole number, or send double precision.'
        : 'No action is needed; smaller coordinates would be more precise.',
    }),
  ];
}
