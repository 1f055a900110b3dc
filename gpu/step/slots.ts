/** Places of indirect dispatches, three words each; gpu/kernels/common/slots.wgsl has the same list. */
export const STEP_SLOTS = { ONE: 0, VERTICES: 1, PAIRS: 2, SEARCH: 3, FIRST_EDGES: 4 } as const;
export const CANDIDATE_SLOTS = { CANDIDATES: 0, WIDE: 1, ACTIVE: 2, COUNT: 3 } as const;
