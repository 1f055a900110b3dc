// Entries of rows, of the queue and of the links: index of the pair and its kind. No kind has the bits of NO_ENTRY.
const INDEX_MASK: u32 = 0x1fffffffu;
const KIND_SHIFT: u32 = 29u;
// links' last fifth: how many a contact waits for in the upper half, how many of those have run, over all sweeps of the
// step, in the lower one.
const WAITS_SHIFT: u32 = 16u;
const NO_ENTRY: u32 = 0xffffffffu;
