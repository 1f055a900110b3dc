import { cssOf, mapBytes } from '../colours.js';
import { type Field, rangeOf } from '../fields/field.js';
import { formatCount, formatNumber, type LengthUnit, lengthScale, roundTicks } from '../format.js';
import type { Range } from '../stage.js';
import { placeTicks } from '../ticks.js';
import { byId, make } from './dom.js';

const RAMP_PIXELS = 256;

/** Range of a field over all its states, so that colours keep their meaning while the slider moves. */
export function rangeFor(field: Field, samples: readonly Float32Array[]): Range {
  let high = Number.NEGATIVE_INFINITY;
  for (const values of samples) high = Math.max(high, rangeOf(values)?.high ?? high);
  if (!(high > field.low))
    high = field.low + (field.quantity === 'length' ? 1e-6 : field.quantity === 'count' ? 1 : 0.01);
  const ticks = roundTicks(field.low, high);
  return { low: field.low, high, lines: field.quantity === 'count' ? 0 : (ticks[1] ?? high) - (ticks[0] ?? field.low) };
}

/** Draws the legend: the map with its values, the unit, and marked values. */
export function drawLegend(
  field: Field | undefined,
  range: Range | undefined,
  {
    unit,
    note,
    values,
  }: { readonly unit: LengthUnit; readonly note: string; readonly values: Float32Array | undefined },
): void {
  const used = new Map<number, number>();
  if (field?.categories) for (const value of values ?? []) used.set(value, (used.get(value) ?? 0) + 1);
  byId('legend-body').hidden = !field || !range || field.categories !== undefined;
  const list = byId('categories');
  list.replaceChildren();
  list.hidden = !field?.categories;
  const text = byId('legend-text');
  text.textContent = note;
  text.hidden = note === '';
  if (!field || !range) return;
  if (field.categories) {
    for (const [i, { label, colour }] of field.categories.entries()) {
      if (!used.has(i)) continue;
      const swatch = make('span', { className: 'swatch' });
      swatch.style.background = cssOf(colour);
      list.append(make('li', {}, swatch, label, make('span', { className: 'amount' }, formatCount(used.get(i)!))));
    }
    return;
  }
  const { low, high } = range;
  drawRamp(field.isReversed === true);
  const scale =
    field.quantity === 'length' ? lengthScale(high, unit) : { name: field.quantity === 'ratio' ? '×' : '', factor: 1 };
  const ticks = byId('ticks');
  ticks.replaceChildren();
  const isCount = field.quantity === 'count';
  for (const { at, text, isAtEnd } of placeTicks(low * scale.factor, high * scale.factor, scale.name, isCount)) {
    const label = make('span', {}, text);
    if (isAtEnd) label.className = 'last';
    label.style.left = `${100 * at}%`;
    ticks.append(label);
  }
  const marks = byId('marks');
  marks.replaceChildren();
  if (field.mark && field.mark.value > low && field.mark.value < high) {
    const mark = make('i', { title: `${field.mark.name} = ${formatNumber(field.mark.value)}` });
    mark.style.left = `${(100 * (field.mark.value - low)) / (high - low)}%`;
    marks.append(mark);
  }
}

function drawRamp(isReversed: boolean): void {
  const canvas = byId<HTMLCanvasElement>('ramp');
  const context = canvas.getContext('2d');
  if (!context) return;
  const bytes = mapBytes(RAMP_PIXELS);
  const image = context.createImageData(RAMP_PIXELS, canvas.height);
  for (let y = 0; y < canvas.height; y++) {
    for (let x = 0; x < RAMP_PIXELS; x++) {
      const from = 4 * (isReversed ? RAMP_PIXELS - 1 - x : x);
      image.data.set(bytes.subarray(from, from + 4), 4 * (y * RAMP_PIXELS + x));
    }
  }
  context.putImageData(image, 0, 0);
}
