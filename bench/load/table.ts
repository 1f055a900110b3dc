import type { Holdings } from './gauges.js';
import { SPLIT_PARTS, type Summary } from './sample.js';

export type Row = Readonly<Record<string, string | number>>;

/** Three significant figures are the precision of such measurements. */
const show = (value: string | number): string =>
  typeof value === 'string' || Number.isInteger(value) ? String(value) : formatFigure(value);

const formatFigure = (value: number): string =>
  Number.isNaN(value) ? '–' : value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0);

/** A Markdown table whose columns also line up as plain text. Every row has the columns of the first. */
export function formatTable(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => show(row[name] ?? '')))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const isText = names.map((name) => typeof rows[0]![name] === 'string');
  const write = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (isText[i] ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join(' | ')} |`;
  const rule = widths.map((width, i) => (isText[i] ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`));
  return [write(lines[0]!), `|${rule.join('|')}|`, ...lines.slice(1).map(write)].join('\n');
}

const MIB = 2 ** 20;

/** Latencies and parts in ms, throughput in steps a second. */
export const summaryRow = (name: string, summary: Summary): Row => ({
  run: name,
  'steps/s': summary.throughput,
  p50: summary.p50,
  p95: summary.p95,
  p99: summary.p99,
  ...Object.fromEntries(SPLIT_PARTS.map((part) => [part, summary.split[part]])),
  refused: Object.values(summary.refused).reduce((sum, count) => sum + count, 0),
});

export const holdingsRow = (moment: string, holdings: Holdings): Row => ({
  moment,
  'RSS MiB': holdings.rssBytes / MIB,
  'device MiB': holdings.deviceBytes / MIB,
  'host MiB': holdings.hostBytes / MIB,
  sessions: holdings.sessions,
  waiting: holdings.waiting,
  running: holdings.running,
});
