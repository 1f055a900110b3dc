// Places of indirect dispatches, three words each; gpu/step/slots.ts has the same list.
// In stepArguments, written by decide: one workgroup; a thread a vertex; a thread a pair; a whole search, or none; then a
// slot for each wide colour of edges.
const ONE: u32 = 0u;
const VERTICES: u32 = 1u;
const PAIRS: u32 = 2u;
const SEARCH: u32 = 3u;
const FIRST_EDGES: u32 = 4u;
// In candidateArguments: a thread a candidate, written by decide (afterGeometry); a thread a contact of a round of the sweep,
// written by sweep-open; a thread a pair of the list of those to look at, written by active-plan
const CANDIDATES: u32 = 0u;
const WIDE: u32 = 1u;
const ACTIVE: u32 = 2u;
const CANDIDATE_SLOTS: u32 = 3u;
