/** Readable numbers. Lengths are in the unit of the files, which the page knows only if the user sets it. */

export type LengthUnit = 'm' | 'cm' | 'mm' | 'unit';

export const LENGTH_UNITS: Readonly<Record<LengthUnit, string>> = {
  m: 'metres',
  cm: 'centimetres',
  mm: 'millimetres',
  unit: 'unknown',
};

/** Metres per unit, if the unit is known. */
const METRES: Readonly<Record<Exclude<LengthUnit, 'unit'>, number>> = { m: 1, cm: 0.01, mm: 0.001 };

const STEPS: readonly (readonly [limit: number, factor: number, name: string])[] = [
  [1e-3, 1e6, 'µm'],
  [1, 1e3, 'mm'],
  [1e3, 1, 'm'],
  [Number.POSITIVE_INFINITY, 1e-3, 'km'],
];

/** A scale for lengths up to `largest`: the name of the unit, and the factor for lengths of the files. */
export function lengthScale(largest: number, unit: LengthUnit): { readonly name: string; readonly factor: number } {
  if (unit === 'unit') return { name: 'units', factor: 1 };
  const metres = Math.abs(largest) * METRES[unit];
  if (metres === 0) return { name: 'mm', factor: 1e3 * METRES[unit] };
  // Lengths from 0.1 mm up are shown in millimetres.
  const [, factor, name] = STEPS.find(([limit], i) => metres < (i === 0 ? 1e-4 : limit))!;
  return { name, factor: factor * METRES[unit] };
}

/** "1.23 mm" */
export function formatLength(value: number, unit: LengthUnit): string {
  const { name, factor } = lengthScale(value, unit);
  return `${formatNumber(value * factor)}\u202f${name}`;
}

/** Three significant digits; thousands are grouped, and very large or small values have powers of ten. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) {
    const [mantissa, exponent] = value.toExponential(2).split('e');
    return `${Number(mantissa)}\u202f×\u202f10${superscript(Number(exponent))}`;
  }
  if (size >= 1000) return Math.round(value).toLocaleString('en-GB');
  return String(Number(value.toPrecision(3)));
}

export const formatCount = (value: number): string => value.toLocaleString('en-GB');

/** "812 µs", "4.5 ms", "1.2 s" */
export function formatMicroseconds(us: number): string {
  if (us < 1000) return `${Math.round(us)}\u202fµs`;
  return us < 1e6 ? `${formatNumber(us / 1000)}\u202fms` : `${formatNumber(us / 1e6)}\u202fs`;
}

/** formatPlural(1, 'step') → "1 step", formatPlural(2, 'vertex', 'vertices') → "2 vertices" */
export const formatPlural = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)}\u202f${count === 1 ? one : many}`;

const DIGITS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

const superscript = (value: number): string =>
  (value < 0 ? '⁻' : '') + [...String(Math.abs(value))].map((digit) => DIGITS[Number(digit)]).join('');

/**
 * About five round numbers from `low` to `high`, including the ends if they are round.
 *
 * @param isWhole whether they are to be whole numbers
 */
export function roundTicks(low: number, high: number, isWhole = false): number[] {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = [1, 2, 2.5, 5, 10].map((factor) => factor * power).filter((each) => !isWhole || each % 1 === 0);
  const step = steps.find((each) => each >= rough) ?? 1;
  const ticks: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * span; i++) ticks.push(i * step);
  return ticks;
}
