import fc from 'fast-check';

const f = Math.fround;

/** The seed is fast-check's own, printed so that a failure can be repeated with TEST_SEED. */
export function settingsOf(t: { comment(text: string): void }, numRuns: number): fc.Parameters<unknown> {
  const given = process.env.TEST_SEED;
  const seed = given ? Number(given) : Math.floor(Math.random() * 2 ** 31);
  t.comment(`TEST_SEED=${seed}`);
  return { seed, numRuns };
}

/**
 * Shorter than this is 0: the judge works in double and cannot tell such a gap from touching once corners move by 100, the
 * most that a property here moves them (40 · 2⁻⁵³ · 100 < 1e-12). fast-check is fond of subnormal numbers.
 */
const LEAST = 1e-12;

/** A coordinate: ordinary ones, and those where things line up. */
const coordinate = fc.oneof(
  fc.double({ min: -1, max: 1, noNaN: true }).map((x) => (Math.abs(x) < LEAST ? 0 : f(x))),
  fc.integer({ min: -2, max: 2 }).map((k) => k / 2),
);

/** float32[3·count] */
export const points = (count: number) =>
  fc.array(coordinate, { minLength: 3 * count, maxLength: 3 * count }).map((list) => Float32Array.from(list));

/** Kinds of pairs as the engine numbers them: VT, EE, VE, VV. */
export const kind = fc.constantFrom(0, 1, 2, 3);
