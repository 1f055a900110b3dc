/** Places of indirect dispatches, three words each; gpu/kernels/common/slots.wgsl has the same list. */
export const STEP_SLOTS = { ONE: 0, VERTICES: 1, PAIRS: 2, SEARCH: 3, FIRST_EDGES: 4 } as const;
export const CANDIDATE_SLOTS = { CANDIDATES: 0, WIDE: 1, ACTIVE: 2, COUNT: 3 } as const;

/** Threads in a workgroup of every kernel that runs a thread an element. */
export const GROUP = 64;
const FOLD = 32768;

/** Workgroups in x and y for so many threads: a dimension holds at most 65,535 (gpu/kernels/common/dispatch.wgsl). */
export function foldGroups(threads: number): readonly [number, number] {
  const groups = Math.ceil(threads / GROUP);
  return groups <= FOLD ? [groups, groups === 0 ? 0 : 1] : [FOLD, Math.ceil(groups / FOLD)];
}
