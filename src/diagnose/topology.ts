import type { DiagnosisFinding } from '../contract/diagnosis.js';
import type { ElementRef } from '../contract/elements.js';
import { edgeRef, finding, plural, type Subject } from './subject.js';
import { oppositeSide } from './surface.js';

/** Finds edges with more than two triangles, and triangles with normals opposite to the rest of their surface. */
export function findTopology(subject: Subject): DiagnosisFinding[] {
  return [...findNonManifold(subject), ...findFlipped(subject)];
}

function findNonManifold({ surface, maxElements }: Subject): DiagnosisFinding[] {
  const elements: ElementRef[] = [];
  let count = 0;
  for (let edge = 0; edge < surface.edges.length / 2; edge++) {
    if (surface.valence(edge) <= 2) continue;
    count++;
    if (elements.length < maxElements)
      elements.push(edgeRef(edge, surface.edges[2 * edge], surface.edges[2 * edge + 1]));
  }
  if (count === 0) return [];
  const message = `${plural(count, 'edge has', 'edges have')} more than two triangles.`;
  const advice =
    'They are handled as they are: the sheets stay joined there. If that is not intended, a vertex was welded by mistake.';
  return [finding({ code: 'NON_MANIFOLD_EDGE', severity: 'NOTE', count, elements, message, advice })];
}

/**
 * Walks over every surface from one triangle to the next and counts triangles that the walk reaches with the other
 * orientation: two triangles agree if they pass their common edge in opposite directions. The smaller of the two groups
 * of a surface is the flipped one. If two ways to a triangle disagree, the surface is one-sided.
 */
function findFlipped(subject: Subject): DiagnosisFinding[] {
  const { surface, maxElements, checkpoint } = subject;
  const count = surface.triangles.length / 3;
  /** 1 or 2 = the orientation, relative to the first triangle of the surface */
  const group = new Uint8Array(count);
  const flipped: number[] = [];
  let oneSided = 0;
  const oneSidedAt: ElementRef[] = [];
  const queue = new Uint32Array(count);
  for (let seed = 0; seed < count; seed++) {
    if (group[seed] !== 0) continue;
    checkpoint();
    let [begin, end] = [0, 0];
    const sizes = [0, 0, 0];
    queue[end++] = seed;
    group[seed] = 1;
    let isTwisted = false;
    while (begin < end) {
      const t = queue[begin++];
      sizes[group[t]]++;
      for (let side = 3 * t; side < 3 * t + 3; side++) {
        const other = oppositeSide(surface, side);
        if (other < 0) continue;
        const agrees = surface.from(side) === surface.to(other);
        const wanted = agrees ? group[t] : 3 - group[t];
        const next = Math.floor(other / 3);
        if (group[next] === 0) {
          group[next] = wanted;
          queue[end++] = next;
        } else if (group[next] !== wanted) isTwisted = true;
      }
    }
    if (isTwisted) {
      oneSided++;
      if (oneSidedAt.length < maxElements) oneSidedAt.push(subject.triangle(seed));
      continue;
    }
    const minority = sizes[1] < sizes[2] ? 1 : 2;
    if (sizes[minority] === 0) continue;
    for (let k = 0; k < end; k++) if (group[queue[k]] === minority) flipped.push(queue[k]);
  }
  const findings: DiagnosisFinding[] = [];
  if (flipped.length > 0) {
    findings.push(
      finding({
        code: 'FLIPPED_TRIANGLES',
        severity: 'WARNING',
        count: flipped.length,
        elements: flipped.slice(0, maxElements).map((t) => subject.triangle(t)),
        message: `${plural(flipped.length, 'triangle has its normal', 'triangles have their normals')} opposite to the rest of the surface.`,
        advice:
          'Reverse their corners. The solver does not depend on orientation, but a query for the outside of the surface does.',
      }),
    );
  }
  if (oneSided > 0) {
    const message = `${plural(oneSided, 'surface has', 'surfaces have')} one side only, like a Möbius strip.`;
    findings.push(
      finding({ code: 'ONE_SIDED_SURFACE', severity: 'NOTE', count: oneSided, elements: oneSidedAt, message }),
    );
  }
  return findings;
}
