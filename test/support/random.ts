/** A small seeded generator (mulberry32): calling it gives a number in [0, 1). */
export interface Random {
  (): number;
  /** print it, so that a failure can be repeated with TEST_SEED */
  readonly seed: number;
  /** a whole number in [0, limit) */
  int(limit: number): number;
  /** a number in [low, high) */
  between(low: number, high: number): number;
}

/** The seed is the argument, else the environment variable TEST_SEED, else a random one. */
export function seeded(seed: number = seedFromEnvironment()): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return Object.assign(next, {
    seed: seed >>> 0,
    int: (limit: number) => Math.floor(next() * limit),
    between: (low: number, high: number) => low + next() * (high - low),
  });
}

/** So many times the rounds that usually suffice, at most. */
const MOST = 10;

/**
 * Counts rounds of random scenes: `usual` of them, and then more while the scenes did not show enough of what a test is
 * about. A test that makes a fixed number of rounds fails with the seeds that show little.
 */
export function* roundsUntil(usual: number, isEnough: () => boolean): Generator<number> {
  for (let round = 0; round < usual || (round < MOST * usual && !isEnough()); round++) yield round;
}

function seedFromEnvironment(): number {
  const text = process.env.TEST_SEED;
  if (text === undefined || text === '') return Math.floor(Math.random() * 2 ** 32);
  const seed = Number(text);
  if (!Number.isInteger(seed)) throw new Error(`TEST_SEED must be a whole number, not ${text}.`);
  return seed;
}
