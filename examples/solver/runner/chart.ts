const WIDTH = 720;
const HEIGHT = 160;
const LEFT = 70;
const RIGHT = WIDTH - 20;
const TOP = 34;
const GAP = 46;
/** width of one character, approximately */
const CHARACTER = 6.6;
/** Labels below it are written with an exponent, because more zeros do not fit beside the chart. */
const MOST_ZEROS = 1e-3;
const INK = '#3e444e';
const PAPER = '#2b6cb0';
const COLOURS = ['#b0321c', '#2b6cb0', '#2f855a', '#b7791f', '#6b46c1', '#222222'] as const;

export interface Line {
  /** in the legend; lines with the same name have the same colour in all charts */
  readonly name?: string;
  readonly values: readonly number[];
  /** positions of the values on the axis; default: 1, 2, … */
  readonly at?: readonly number[];
}

export interface Chart {
  readonly title: string;
  readonly lines: readonly Line[];
  /** the paper's average; drawn as a dashed line */
  readonly average?: number;
  readonly isLogarithmic: boolean;
  /** label of the axis; default 'frame' */
  readonly axis?: string;
}

/** Draws charts below each other, as SVG. Values of 0 lie on the lower edge of a logarithmic chart. */
export function drawCharts(heading: string, charts: readonly Chart[]): string {
  const names = [...new Set(charts.flatMap(({ lines }) => lines.flatMap(({ name }) => name ?? [])))];
  const top = TOP + (names.length > 0 ? 18 : 0);
  let x = LEFT;
  const legend = names.map((name, i) => {
    const text = `<text x="${x.toFixed(0)}" y="38" fill="${COLOURS[i % COLOURS.length]}">${plain(name)}</text>`;
    x += CHARACTER * (name.length + 3);
    return text;
  });
  const height = top + charts.length * (HEIGHT + GAP);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="${INK}">`,
    `<rect width="${WIDTH}" height="${height}" fill="white"/>`,
    `<text x="${LEFT}" y="20" font-size="14">${plain(heading)}</text>`,
    ...legend,
    ...charts.map((chart, i) => drawChart(chart, names, top + i * (HEIGHT + GAP) + 18)),
    '</svg>\n',
  ].join('\n');
}

const placesOf = ({ values, at }: Line): readonly number[] => at ?? values.map((_, i) => i + 1);

function drawChart(chart: Chart, names: readonly string[], top: number): string {
  const { title, lines, average, isLogarithmic, axis = 'frame' } = chart;
  const shown = [...lines.flatMap(({ values }) => values), ...(average === undefined ? [] : [average])];
  const positive = shown.filter((value) => value > 0);
  const high = positive.reduce((a, b) => Math.max(a, b), 0) || 1;
  const low = isLogarithmic ? positive.reduce((a, b) => Math.min(a, b), high) / 1.5 : 0;
  const share = (value: number): number => {
    if (!isLogarithmic) return value / high;
    return value <= low ? 0 : Math.log(value / low) / Math.log((high * 1.1) / low);
  };
  const y = (value: number): string => (top + HEIGHT * (1 - share(value))).toFixed(1);
  const places = lines.flatMap(placesOf);
  const [first, last] = [
    places.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
    places.reduce((a, b) => Math.max(a, b), 0),
  ];
  const x = (place: number): string =>
    (LEFT + ((RIGHT - LEFT) * (place - first)) / Math.max(last - first, Number.MIN_VALUE)).toFixed(1);
  const pathOf = (line: Line): string => {
    const at = placesOf(line);
    return line.values.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(at[i]!)} ${y(value)}`).join('');
  };
  const colourOf = ({ name }: Line, i: number): string =>
    COLOURS[(name === undefined ? i : names.indexOf(name)) % COLOURS.length]!;
  const marks = isLogarithmic ? [low * 1.5, Math.sqrt(low * 1.5 * high), high] : [0, high / 2, high];
  const short = (value: number): string => {
    const rounded = Number(value.toPrecision(3));
    return rounded !== 0 && Math.abs(rounded) < MOST_ZEROS ? rounded.toExponential() : String(rounded);
  };
  return [
    `<text x="${LEFT}" y="${top - 6}">${plain(title)}${average === undefined ? '' : ' (dashed: average of the paper)'}</text>`,
    ...marks.map(
      (value) =>
        `<path d="M${LEFT} ${y(value)}H${RIGHT}" stroke="#e2e5ea"/><text x="${LEFT - 6}" y="${y(value)}" dy="4" text-anchor="end">${short(value)}</text>`,
    ),
    average === undefined ? '' : `<path d="M${LEFT} ${y(average)}H${RIGHT}" stroke="${PAPER}" stroke-dasharray="6 4"/>`,
    ...lines.map(
      (line, i) => `<path d="${pathOf(line)}" fill="none" stroke="${colourOf(line, i)}" stroke-width="1.2"/>`,
    ),
    `<text x="${LEFT}" y="${top + HEIGHT + 16}">${plain(axis)} ${short(first)}</text>`,
    `<text x="${RIGHT}" y="${top + HEIGHT + 16}" text-anchor="end">${plain(axis)} ${short(last)}</text>`,
  ].join('\n');
}

const plain = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
