import { formatCount, formatNumber, roundTicks } from './format.js';

/** A value beside a colour map: its place along the map from 0 to 1, and its text. */
export interface Tick {
  readonly at: number;
  readonly text: string;
  /** Whether the text ends at the place, because centred it would reach beyond the end of the map. */
  readonly isAtEnd: boolean;
}

/** Width of a character as a share of the map, which is 242 pixels wide at least; and the room between two texts. */
const CHARACTER = 7 / 242;
const ROOM = 6 / 242;
/** From this place on a text ends there. */
const END = 0.88;

/**
 * Round values along a map from `low` to `high`, as many as have room beside each other. Every text has the digits that
 * distinguish it from the next one; the last has the unit.
 *
 * @param isWhole whether only whole numbers have a meaning
 */
export function placeTicks(low: number, high: number, unit: string, isWhole: boolean): Tick[] {
  const values = roundTicks(low, high, isWhole);
  const digits = digitsOf(values.length > 1 ? values[1]! - values[0]! : values[0]!);
  const ticks = values.map((value, i): Tick => {
    const at = high > low ? Math.min(1, (value - low) / (high - low)) : 0;
    const isLast = i === values.length - 1;
    const text = textOf(value, digits) + (isLast && unit !== '' ? `\u202f${unit}` : '');
    return { at, text, isAtEnd: i > 0 && at > END };
  });
  const shown: Tick[] = [];
  for (const tick of ticks) {
    const isLast = tick === ticks.at(-1);
    // The last one has the unit, so it takes the place of those before it.
    while (isLast && shown.length > 0 && !isBeside(shown.at(-1)!, tick)) shown.pop();
    if (shown.length === 0 || isBeside(shown.at(-1)!, tick)) shown.push(tick);
  }
  return shown;
}

const isBeside = (before: Tick, next: Tick): boolean => endsOf(before)[1] + ROOM <= endsOf(next)[0];

/** The ends of a text along the map: the first begins at its place, one at the end ends there, others are centred. */
function endsOf({ at, text, isAtEnd }: Tick): [number, number] {
  const width = text.length * CHARACTER;
  if (at === 0) return [0, width];
  return isAtEnd ? [at - width, at] : [at - width / 2, at + width / 2];
}

/** Digits behind the point that a multiple of the step needs. */
function digitsOf(step: number): number {
  let digits = 0;
  while (digits < 12 && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6 * step * 10 ** digits)
    digits++;
  return digits;
}

function textOf(value: number, digits: number): string {
  const size = Math.abs(value);
  if (size >= 1000 && size < 1e7 && digits === 0) return formatCount(value);
  return value === 0 || size >= 1e7 || size < 1e-4 ? formatNumber(value) : String(Number(value.toFixed(digits)));
}
