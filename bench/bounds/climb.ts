import type { Random } from '../prove/scenes/random.js';

/** A bound of rounding that the code states, and how near an input comes to it. */
export interface Bound {
  /** what is bounded, in a few words */
  readonly name: string;
  /** where the code derives it */
  readonly at: string;
  /** the type of the numbers that are varied */
  readonly numbers: Float32ArrayConstructor | Float64ArrayConstructor;
  /** an input of the domain in which the bound is stated, at random */
  readonly draw: (random: Random) => readonly number[];
  /** the error over its bound: above 1, the bound does not hold; NaN = the input is outside of the domain */
  readonly ratio: (input: Float32Array | Float64Array) => number;
}

export interface Worst {
  readonly ratio: number;
  /** the input with that ratio; empty = none was in the domain */
  readonly input: readonly number[];
  readonly tried: number;
}

/** Changes of an input without a larger ratio after which another one is drawn. */
const PATIENCE = 120;

/** Tries inputs until it is over, which is asked after each, climbing from each one drawn to larger ratios by changing a few of its numbers. */
export function climb({ draw, ratio, numbers }: Bound, random: Random, isOver: () => boolean): Worst {
  let worst: Worst = { ratio: Number.NEGATIVE_INFINITY, input: [], tried: 0 };
  let tried = 0;
  do {
    let input = numbers.from(draw(random));
    let reached = ratio(input);
    tried++;
    for (let left = PATIENCE; left > 0 && !Number.isNaN(reached) && !isOver(); left--) {
      const next = input.slice();
      for (let changes = 1 + random.below(3); changes > 0; changes--) change(next, random);
      const value = ratio(next);
      tried++;
      if (!(value >= reached)) continue;
      if (value > reached) left = PATIENCE;
      input = next;
      reached = value;
    }
    if (reached > worst.ratio) worst = { ratio: reached, input: [...input], tried };
  } while (!isOver());
  return { ...worst, tried };
}

/** Changes one number: by some units in the last place, few or many, to another one of the input, or by a factor. */
function change(input: Float32Array | Float64Array, random: Random): void {
  const k = random.below(input.length);
  const way = random.next();
  const sign = random.next() < 0.5 ? -1 : 1;
  const ulp = Math.abs(input[k]!) * (input instanceof Float32Array ? 2 ** -23 : 2 ** -52);
  if (way < 0.4) input[k]! += sign * ulp * (1 + random.below(4));
  else if (way < 0.75) input[k]! += sign * ulp * 2 ** random.between(2, input instanceof Float32Array ? 23 : 52);
  else if (way < 0.85) input[k] = input[random.below(input.length)]!;
  else if (way < 0.92) input[k] = -input[k]!;
  else input[k]! *= random.between(0.5, 2);
}
