// Entries of rows: index of the pair, its kind, and whether the sweep has done it.
const INDEX_MASK: u32 = 0x1fffffffu;
const KIND_SHIFT: u32 = 29u;
const DONE: u32 = 0x80000000u;
