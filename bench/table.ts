import { type Measurement, STAGES } from './measure.js';

const fixed = (value: number, digits: number): string => value.toFixed(digits);
const ms = (value: number): string => fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0);

const HEADINGS = [
  'scene',
  'engine',
  'vertices',
  'triangles',
  'status',
  'steps',
  'searches',
  'pairs',
  'ms',
  'min–max',
  ...STAGES,
  'ms/step',
  'rms mm',
  'same bytes',
];

/** Additional columns for engines that were measured alone. */
const ENGINE_HEADINGS = ['stages/step', '× cpu', 'open', 'MiB', 'contacts', 'dispatches/step'];

const cellsOf = (m: Measurement): string[] => [
  m.scene,
  m.engine.split(':')[0],
  String(m.vertices),
  String(m.triangles),
  m.status,
  String(m.steps),
  String(m.searches),
  String(m.pairs),
  ms(m.milliseconds.median),
  `${ms(m.milliseconds.min)}–${ms(m.milliseconds.max)}`,
  ...STAGES.map((stage) => ms(m.stages[stage].median)),
  ms(m.millisecondsPerStep),
  fixed(1000 * m.rmsToTarget, 3),
  m.isRepeatable ? 'yes' : 'NO',
];

const engineCellsOf = ({ engineOnly: e }: Measurement): string[] =>
  e === undefined
    ? ENGINE_HEADINGS.map(() => '')
    : [
        ms(e.stageMillisecondsPerStep),
        e.ratioToCpu === undefined ? '' : fixed(e.ratioToCpu, 2),
        ms(e.openMilliseconds.median),
        fixed(e.bytes / 2 ** 20, 1),
        String(e.contacts),
        e.dispatchesPerStep === undefined ? '' : String(e.dispatchesPerStep),
      ];

/**
 * Returns the measurements as a Markdown table whose columns also line up as plain text. Times are medians in
 * milliseconds.
 */
export function formatTable(measurements: readonly Measurement[]): string {
  const isEngines = measurements.some((m) => m.engineOnly !== undefined);
  const headings = isEngines ? [...HEADINGS, ...ENGINE_HEADINGS] : HEADINGS;
  const rows = [headings, ...measurements.map((m) => (isEngines ? [...cellsOf(m), ...engineCellsOf(m)] : cellsOf(m)))];
  return alignTable(rows);
}

/** Rows, headings first, as a Markdown table whose columns also line up as plain text. */
export function alignTable(rows: readonly (readonly string[])[]): string {
  const [headings] = rows;
  const widths = headings.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const isText = (column: number) => ['scene', 'engine', 'quality', 'method', 'status'].includes(headings[column]);
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, i) => (isText(i) ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`;
  const rule = `|${widths.map((width, i) => (isText(i) ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(rows[0]), rule, ...rows.slice(1).map(line)].join('\n');
}
