/**
 * Returns the entries of a long table that this run tries: all of them, or one in `parts` in the whole run that every
 * change must pass (deploy/test.mjs). TEST_SEED chooses the share, so successive runs try different ones, and a run can
 * be repeated.
 */
export const shareOf = <T>(entries: readonly T[], parts: number): readonly T[] =>
  isShared ? everyNth(entries, parts, seed) : entries;

/** Returns how many of so many equal rounds this run makes, at least one. */
export const roundsOf = (rounds: number, parts: number): number => (isShared ? Math.ceil(rounds / parts) : rounds);

/**
 * Returns every n-th entry, beginning with the one that the seed chooses; of fewer entries than n, one. Each entry is in
 * the share of one remainder of the seed.
 */
export function everyNth<T>(entries: readonly T[], n: number, seed: number): readonly T[] {
  const step = Math.min(n, entries.length);
  return entries.filter((_, k) => k % step === seed % step);
}

/** The whole run has set it; a file that runs by itself, or with some others, tries everything. */
const isShared = process.env.TEST_SHARES === '1';
const seed = Number(process.env.TEST_SEED ?? 0);
if (!Number.isInteger(seed) || seed < 0)
  throw new Error(`TEST_SEED must be a whole number, not ${process.env.TEST_SEED}.`);
