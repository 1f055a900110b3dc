// Steps over which stagnation is judged.
const WINDOW: u32 = 32u;
