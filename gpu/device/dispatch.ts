/** WebGPU's limit for one dimension of a dispatch, on every adapter. */
const MOST_GROUPS = 65_535;

/** Dispatch size [x, y, z] for at least `groups` workgroups, folded where one dimension does not hold them (groups.wgsl). */
export function foldGroups(groups: number): [number, number, number] {
  if (groups <= MOST_GROUPS) return [groups, 1, 1];
  const rows = Math.ceil(groups / MOST_GROUPS);
  return [Math.ceil(groups / rows), rows, 1];
}
