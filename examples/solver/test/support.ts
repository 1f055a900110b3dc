/**
 * The environment variable TEST_SEED, otherwise a different seed every time; a test prints it, so that a failure can be
 * reproduced.
 */
export function seedOfTest(): number {
  const text = process.env.TEST_SEED;
  if (text === undefined || text === '') return Date.now() % 1_000_000;
  const seed = Number(text);
  if (!Number.isInteger(seed)) throw new Error(`TEST_SEED is a whole number, not ${text}.`);
  return seed;
}

/** A generator of numbers in [0, 1) that are determined by a seed (mulberry32). */
export function makeRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const randomVector = (length: number, random: () => number): Float64Array =>
  Float64Array.from({ length }, () => 2 * random() - 1);

export const perturb = (x: Float64Array, size: number, random: () => number): Float64Array =>
  x.map((value) => value + size * (2 * random() - 1));

export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
};

/** Derivative of f at x along v, by central differences. */
export function difference(
  f: (x: Float64Array) => ArrayLike<number>,
  x: Float64Array,
  v: Float64Array,
  step: number,
): number[] {
  const ahead = f(x.map((value, i) => value + step * v[i]!));
  const behind = f(x.map((value, i) => value - step * v[i]!));
  return Array.from(ahead, (value, i) => (value - behind[i]!) / (2 * step));
}

/** Rotates all vertices by a random rotation about the origin. */
export function turn(x: Float64Array, random: () => number): Float64Array {
  const q = Array.from({ length: 4 }, () => 2 * random() - 1);
  const length = Math.hypot(...q);
  const [w, a, b, c] = q.map((value) => value / length) as [number, number, number, number];
  const rows = [
    [1 - 2 * (b * b + c * c), 2 * (a * b - c * w), 2 * (a * c + b * w)],
    [2 * (a * b + c * w), 1 - 2 * (a * a + c * c), 2 * (b * c - a * w)],
    [2 * (a * c - b * w), 2 * (b * c + a * w), 1 - 2 * (a * a + b * b)],
  ];
  return x.map((_, i) => {
    const v = i - (i % 3);
    const row = rows[i % 3]!;
    return row[0]! * x[v]! + row[1]! * x[v + 1]! + row[2]! * x[v + 2]!;
  });
}
