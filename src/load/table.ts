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
