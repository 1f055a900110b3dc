import type { DiagnosisFinding } from '../contract/diagnosis.js';
import type { ElementRef } from '../contract/elements.js';
import { distanceOf } from '../mesh/lengths.js';
import { groupCoincident } from './coincident.js';
import { edgeRef, finding, plural, type Subject, show, vertexRef } from './subject.js';

/**
 * Ratio of distance to median edge up to which vertices coincide: a hundredth of the gap that contacts leave (an eighth
 * of a tenth of an edge), and more than the rounding of six decimals in a file of a garment in metres.
 */
export const COINCIDENT_SHARE = 1e-3 / 8;

/** Coincident vertices and border edges, which form open seams. */
export interface Seams {
  /** uint32[V] */
  readonly lowest: Uint32Array;
  /** sides (3·triangle + k) of two triangles whose edges coincide */
  readonly pairs: readonly (readonly [side: number, other: number])[];
}

/** Finds vertices without elements, coincident vertices, and the seams that these form. */
export function findVertices(subject: Subject): { findings: DiagnosisFinding[]; seams: Seams } {
  const { mesh, x, medianEdge, maxElements } = subject;
  const findings = findUnused(subject);
  const tolerance = COINCIDENT_SHARE * medianEdge;
  const lowest = groupCoincident(x, mesh.contactVertices, tolerance);
  const neighbours = new Set<number>();
  const { edges, vertexCount } = mesh;
  for (let e = 0; e < edges.length; e += 2) {
    if (lowest[edges[e]] === lowest[edges[e + 1]]) neighbours.add(edges[e] * vertexCount + edges[e + 1]);
  }
  let [count, touching, farthest] = [0, 0, 0];
  const elements: ElementRef[] = [];
  for (const v of mesh.contactVertices) {
    const first = lowest[v];
    if (first === v || neighbours.has(Math.min(first, v) * vertexCount + Math.max(first, v))) continue;
    count++;
    const distance = distanceOf(x, first, v);
    if (distance === 0) touching++;
    farthest = Math.max(farthest, distance);
    if (elements.length < maxElements) elements.push({ kind: 'vertex', index: v, vertices: [v, first] });
  }
  const seams = { lowest, pairs: findSeamPairs(subject, lowest) };
  if (count > 0) findings.push(describeCoincident(count, touching, farthest, elements, seams, subject));
  return { findings, seams };
}

function describeCoincident(
  count: number,
  touching: number,
  farthest: number,
  elements: readonly ElementRef[],
  { pairs }: Seams,
  { names, componentOf, surface }: Subject,
): DiagnosisFinding {
  const between = new Set(
    pairs.map((sides) =>
      sides
        .map((side) => names[componentOf[surface.from(side)]])
        .sort()
        .join(' and '),
    ),
  );
  const places = [...between].slice(0, 4).join('; ') + (between.size > 4 ? `; ${between.size - 4} more` : '');
  const seam = pairs.length === 0 ? '' : ` They make seams of ${plural(pairs.length, 'edge')} (${places}).`;
  return finding({
    code: 'COINCIDENT_VERTICES',
    severity: touching > 0 ? 'PROBLEM' : 'WARNING',
    count,
    measure: farthest,
    unit: 'length',
    elements,
    message: `${plural(count, 'vertex is', 'vertices are')} at the place of another without an edge between them, ${touching === count ? 'exactly' : `${touching} of them exactly, the others within ${show(farthest)}`}.${seam}`,
    advice:
      'Elements that touch count as intersecting. interstice doctor --weld-to FILE lets the elements of both use one vertex; the ids of vertices stay.' +
      (pairs.length > 0
        ? ' Where panels must stay apart, leave a gap between them and close it with --sew-to FILE.'
        : ''),
  });
}

function findUnused({ mesh, isNamed, maxElements }: Subject): DiagnosisFinding[] {
  const isUsed = isNamed.slice();
  for (const list of [mesh.contactVertices, mesh.tetrahedra]) for (const v of list) isUsed[v] = 1;
  const elements: ElementRef[] = [];
  let count = 0;
  isUsed.forEach((used, v) => {
    if (used === 1) return;
    count++;
    if (elements.length < maxElements) elements.push(vertexRef(v));
  });
  if (count === 0) return [];
  const message = `${plural(count, 'vertex belongs', 'vertices belong')} to no element.`;
  const advice =
    'Nothing collides with them, and they move to their targets unchecked. Make them particles if they should collide.';
  return [finding({ code: 'UNUSED_VERTICES', severity: 'WARNING', count, elements, message, advice })];
}

/** Finds pairs of border edges of triangles whose ends coincide. */
function findSeamPairs({ surface, mesh }: Subject, lowest: Uint32Array): [number, number][] {
  const first = new Map<number, number>();
  const pairs: [number, number][] = [];
  for (let side = 0; side < surface.triangles.length; side++) {
    if (surface.valence(surface.edgeOfSide[side]) !== 1) continue;
    const [a, b] = [lowest[surface.from(side)], lowest[surface.to(side)]];
    if (a === b) continue;
    const key = Math.min(a, b) * mesh.vertexCount + Math.max(a, b);
    const other = first.get(key);
    if (other === undefined) first.set(key, side);
    else pairs.push([other, side]);
  }
  return pairs;
}

/** Finds panels that meet at a seam with opposite normals: both pass the seam in the same direction. */
export function findFlippedPanels(subject: Subject, { lowest, pairs }: Seams): DiagnosisFinding[] {
  const { surface, names, componentOf, maxElements } = subject;
  const flipped = pairs.filter(([side, other]) => lowest[surface.from(side)] === lowest[surface.from(other)]);
  if (flipped.length === 0) return [];
  const between = new Set(
    flipped.map((sides) =>
      sides
        .map((side) => names[componentOf[surface.from(side)]])
        .sort()
        .join(' and '),
    ),
  );
  return [
    finding({
      code: 'FLIPPED_PANEL',
      severity: 'WARNING',
      count: flipped.length,
      elements: flipped
        .slice(0, maxElements)
        .map(([, side]) => edgeRef(surface.edgeOfSide[side], surface.from(side), surface.to(side))),
      message: `At ${plural(flipped.length, 'seam edge')} the normals on both sides are opposite: ${[...between].slice(0, 4).join('; ')}.`,
      advice:
        'Reverse the corners of one panel. The solver does not depend on orientation, but a query for the outside of the surface does.',
    }),
  ];
}
