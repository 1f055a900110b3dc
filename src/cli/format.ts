import type { ElementPair } from '../contract/elements.js';

/** Four significant digits: enough to compare, short enough to read. Exact numbers are in the JSON report. */
const readableDigits = 4;

export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  return String(Number(value.toPrecision(readableDigits)));
}

/** 12345 → "12,345" */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** formatPlural(1, 'step') → "1 step", formatPlural(2, 'search', 'searches') → "2 searches" */
export function formatPlural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** formatRate(1) → "1 step/s", formatRate(0.5) → "0.5 steps/s" */
export const formatRate = (rate: number): string => `${rate} ${rate === 1 ? 'step/s' : 'steps/s'}`;

export function formatSeconds(seconds: number): string {
  if (seconds < 0.0995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}

const SIDES: { readonly [K in ElementPair['kind']]: readonly [a: string, b: string] } = {
  VERTEX_TRIANGLE: ['vertex', 'triangle'],
  EDGE_EDGE: ['edge', 'edge'],
  VERTEX_EDGE: ['vertex', 'edge'],
  VERTEX_VERTEX: ['vertex', 'vertex'],
  EDGE_TRIANGLE: ['edge', 'triangle'],
};

/** "edge 12-14 × triangle 3-4-5, 0.0012 apart": elements by their vertex ids. */
export function formatPair(pair: ElementPair): string {
  const [a, b] = SIDES[pair.kind];
  const apart = pair.distance === undefined ? '' : `, ${formatNumber(pair.distance)} apart`;
  return `${a} ${pair.a.join('-')} × ${b} ${pair.b.join('-')}${apart}`;
}

/** At most `shown` lines, then one that counts the rest; `total` includes pairs that were never listed. */
export function formatPairs(pairs: readonly ElementPair[], total: number, shown: number): string[] {
  const lines = pairs.slice(0, shown).map(formatPair);
  const rest = total - lines.length;
  return rest > 0 && lines.length > 0 ? [...lines, `… and ${formatCount(rest)} more`] : lines;
}

/** Rows of "label  text" with the texts in one column; a row with an empty label continues the one above. */
export function formatRows(rows: readonly (readonly [label: string, text: string])[], indent = '  '): string[] {
  const width = Math.max(0, ...rows.map(([label]) => label.length));
  return rows.map(([label, text]) => `${indent}${label.padEnd(width)}  ${text}`);
}
