import type { DiagnosisFinding } from '../contract/diagnosis.js';
import type { ElementRef } from '../contract/elements.js';
import { distanceOf } from '../mesh/lengths.js';
import { edgeRef, finding, plural, type Subject, show } from './subject.js';

/**
 * Finds edges that are longer in the target itself than σ allows, relative to their length in the start.
 *
 * @param stretchLimit σ; 0 = none
 * @param hasRest whether lengths at rest were sent, to which a resolve then relates the limit instead of the target's own
 */
export function findOverlongTargets(
  subject: Subject,
  { stretchLimit: limit, hasRest }: { readonly stretchLimit: number; readonly hasRest: boolean },
): DiagnosisFinding[] {
  const { mesh, x, y, maxElements } = subject;
  if (!y || limit === 0) return [];
  const elements: ElementRef[] = [];
  let [count, worst] = [0, 0];
  const { edges } = mesh;
  for (let e = 0; e < edges.length; e += 2) {
    const [a, b] = [edges[e], edges[e + 1]];
    if (mesh.kinematic[a] === 1 && mesh.kinematic[b] === 1) continue;
    const before = distanceOf(x, a, b);
    const stretch = distanceOf(y, a, b) / before;
    // An edge so short that the ratio is infinite counts as without length.
    if (before === 0 || stretch <= limit || stretch === Infinity) continue;
    count++;
    worst = Math.max(worst, stretch);
    if (elements.length < maxElements) elements.push(edgeRef(e / 2, a, b));
  }
  if (count === 0) return [];
  return [
    finding({
      code: 'TARGET_STRETCHED',
      severity: 'WARNING',
      count,
      measure: worst,
      unit: 'ratio',
      elements,
      message: `${plural(count, 'edge is', 'edges are')} stretched beyond the limit of ${show(limit)} by the target itself, the worst to ${show(worst)} times its length.`,
      advice: hasRest
        ? 'The answer keeps to the lengths at rest that were sent, and stops short of a target that exceeds them. If the stretch is intended, raise stretchLimit or set it to 0.'
        : 'stretchLimit is relative to the lengths in the target, so the answer follows it and keeps this stretch. Send restLengths to limit lengths relative to those at rest.',
    }),
  ];
}
