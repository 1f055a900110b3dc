import type { ElementPair } from '../contract/elements.js';
import type { Warning } from '../contract/errors.js';
import type { Report } from '../contract/report.js';
import { countExcluded, type ExcludedPairs } from '../mesh/excluded-pairs.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { StateFindings } from '../verify/types.js';

/** How many pairs of a list a report names; counts are complete. */
const NAMED = 16;

/** What a report contains about the excluded pairs. */
export function describeExcluded(mesh: CollisionMesh, excluded: ExcludedPairs | undefined) {
  if (!excluded) return { count: 0, named: [], warnings: [] };
  const count = countExcluded(mesh, excluded);
  const { length } = excluded.items;
  const subject = length === 1 ? '1 pair of elements intersects' : `${length} pairs of elements intersect`;
  const these = length === 1 ? 'This pair' : 'These pairs';
  const warning: Warning = {
    code: 'IGNORED_PAIRS',
    message:
      `${subject} in the start (or parted by less than the floor in the last step). ${these} and the pairs that depend on the ` +
      `same vertices and edges, ${count} in all, are neither constrained nor verified until they have parted.`,
    count,
  };
  return { count, named: excluded.items.slice(0, NAMED), warnings: [warning] };
}

/**
 * What a report contains about pairs that intersect in the answer; only ignored ones can. Without a test of the answer
 * nothing is known, and no count is given.
 *
 * @param findings of the exact test of the answer; undefined = not tested
 */
export function describeIntersecting(findings: StateFindings | undefined): {
  readonly counted: Pick<Report, 'intersectingPairCount'>;
  readonly named: readonly ElementPair[];
  readonly warnings: readonly Warning[];
} {
  if (!findings) return { counted: {}, named: [], warnings: [] };
  const { excludedPairs = [] } = findings;
  const count = excludedPairs.length;
  const warnings: Warning[] = [];
  if (count > 0) {
    const subject =
      count === 1 ? '1 ignored pair of elements intersects' : `${count} ignored pairs of elements intersect`;
    warnings.push({
      code: 'STILL_INTERSECTING',
      message: `${subject} in the answer, as in the start. Only the target can separate them: choose one in which they are apart.`,
      count,
    });
  }
  return { counted: { intersectingPairCount: count }, named: excludedPairs.slice(0, NAMED), warnings };
}
