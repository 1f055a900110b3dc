/** A line of a chart, one value per step. */
export interface Line {
  readonly name: string;
  readonly values: readonly number[];
}

export interface Chart {
  readonly title: string;
  readonly lines: readonly Line[];
}

const [WIDTH, HEIGHT, LEFT, TOP, RIGHT, GAP] = [640, 150, 60, 52, 16, 44] as const;
const INK = '#3e444e';
const COLOURS = ['#222222', '#b0321c', '#2b6cb0', '#2f855a', '#b7791f', '#6b46c1'] as const;

/**
 * Draws charts one above the other over the same steps, with logarithmic axes, as SVG. Values of 0 lie on the lower
 * edge.
 */
export function drawCharts(heading: string, charts: readonly Chart[]): string {
  const height = TOP + charts.length * (HEIGHT + GAP);
  const names = charts[0].lines.map(({ name }) => name);
  const legend = names.map(
    (name, i) =>
      `<text x="${(LEFT + (i * (WIDTH - LEFT - RIGHT)) / names.length).toFixed(0)}" y="38" fill="${COLOURS[i]}">${escapeText(name)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11" fill="${INK}">`,
    `<rect width="${WIDTH}" height="${height}" fill="white"/>`,
    `<text x="${LEFT}" y="20" font-size="13">${escapeText(heading)}</text>`,
    ...legend,
    ...charts.map((chart, i) => drawChart(chart, TOP + i * (HEIGHT + GAP) + 18)),
    '</svg>\n',
  ].join('\n');
}

function drawChart({ title, lines }: Chart, top: number): string {
  const positive = lines.flatMap(({ values }) => values.filter((value) => value > 0));
  const high = positive.reduce((a, b) => Math.max(a, b), Number.MIN_VALUE);
  const low = positive.reduce((a, b) => Math.min(a, b), high) / 2;
  const steps = lines.reduce((most, { values }) => Math.max(most, values.length), 1);
  const share = (value: number): number => (value <= low ? 0 : Math.log(value / low) / Math.log(high / low));
  const y = (value: number): string => (top + HEIGHT * (1 - share(value))).toFixed(1);
  // Most variants need tens of steps, a few hundreds, so steps are logarithmic, too.
  const x = (step: number): string =>
    (LEFT + ((WIDTH - LEFT - RIGHT) * Math.log(step)) / Math.log(Math.max(2, steps))).toFixed(1);
  const path = ({ values }: Line): string =>
    values.map((value, k) => `${k === 0 ? 'M' : 'L'}${x(k + 1)} ${y(value)}`).join('');
  return [
    `<text x="${LEFT}" y="${top - 6}">${escapeText(title)}</text>`,
    ...[2 * low, Math.sqrt(2 * low * high), high].map(
      (value) =>
        `<path d="M${LEFT} ${y(value)}H${WIDTH - RIGHT}" stroke="#e2e5ea"/><text x="${LEFT - 6}" y="${y(value)}" dy="4" text-anchor="end">${Number(value.toPrecision(2))}</text>`,
    ),
    ...lines.map(
      (line, i) => `<path d="${path(line)}" fill="none" stroke="${COLOURS[i % COLOURS.length]}" stroke-width="1.3"/>`,
    ),
    `<text x="${LEFT}" y="${top + HEIGHT + 14}">step 1</text>`,
    `<text x="${WIDTH - RIGHT}" y="${top + HEIGHT + 14}" text-anchor="end">step ${steps}</text>`,
  ].join('\n');
}

const escapeText = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
