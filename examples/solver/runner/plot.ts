import type { Played, StepRecord } from './records.js';

const WIDTH = 720;
const HEIGHT = 160;
const LEFT = 70;
const TOP = 34;
const GAP = 46;
const INK = '#3e444e';
const LINE = '#b0321c';
const PAPER = '#2b6cb0';

export interface Chart {
  readonly title: string;
  readonly values: readonly number[];
  /** of another method, frame by frame; drawn in another colour */
  readonly others?: readonly number[];
  /** the paper's average; drawn as a dashed line */
  readonly average?: number;
  readonly isLogarithmic: boolean;
}

/** Steps, residual and cost over the frames of a scene, as SVG. */
export function makePlot({ scene, size, adapter, records }: Played): string {
  const column = (value: (record: StepRecord) => number): number[] => records.map(value);
  const { paper } = scene;
  const charts: Chart[] = [
    { title: 'steps', values: column(({ steps }) => steps), isLogarithmic: false, ...from(paper?.averageSteps) },
    { title: 'residual ‖r‖∞ of the answer', values: column(({ residual }) => residual), isLogarithmic: true },
    { title: 'cost, s', values: column(({ cost }) => cost), isLogarithmic: true, ...from(paper?.averageCost) },
    { title: 'drift of momentum', values: column(({ drift }) => drift), isLogarithmic: true },
  ];
  return drawCharts(`${scene.name}, ${size}: ${records.length} frames, ${adapter}`, charts);
}

/** Charts below each other, as SVG. */
export function drawCharts(heading: string, charts: readonly Chart[]): string {
  const height = TOP + charts.length * (HEIGHT + GAP);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="${INK}">`,
    `<rect width="${WIDTH}" height="${height}" fill="white"/>`,
    `<text x="${LEFT}" y="20" font-size="14">${plain(heading)}</text>`,
    ...charts.map((chart, i) => drawChart(chart, TOP + i * (HEIGHT + GAP) + 18)),
    '</svg>\n',
  ].join('\n');
}

const from = (average: number | undefined) => (average === undefined ? {} : { average });

function drawChart({ title, values, others = [], average, isLogarithmic }: Chart, top: number): string {
  const shown = [...values, ...others, ...(average === undefined ? [] : [average])];
  const positive = shown.filter((value) => value > 0);
  const high = positive.reduce((a, b) => Math.max(a, b), 0) || 1;
  const low = isLogarithmic ? positive.reduce((a, b) => Math.min(a, b), high) / 1.5 : 0;
  const share = (value: number): number => {
    if (!isLogarithmic) return value / high;
    return value <= low ? 0 : Math.log(value / low) / Math.log((high * 1.1) / low);
  };
  const y = (value: number): string => (top + HEIGHT * (1 - share(value))).toFixed(1);
  const x = (i: number): string => (LEFT + ((WIDTH - LEFT - 20) * i) / Math.max(1, values.length - 1)).toFixed(1);
  const pathOf = (line: readonly number[]): string =>
    line.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i)} ${y(value)}`).join('');
  const marks = isLogarithmic ? [low * 1.5, Math.sqrt(low * 1.5 * high), high] : [0, high / 2, high];
  const right = WIDTH - 20;
  return [
    `<text x="${LEFT}" y="${top - 6}">${plain(title)}${average === undefined ? '' : ' (dashed: average of the paper)'}</text>`,
    ...marks.map(
      (value) =>
        `<path d="M${LEFT} ${y(value)}H${right}" stroke="#e2e5ea"/><text x="${LEFT - 6}" y="${y(value)}" dy="4" text-anchor="end">${Number(value.toPrecision(3))}</text>`,
    ),
    average === undefined ? '' : `<path d="M${LEFT} ${y(average)}H${right}" stroke="${PAPER}" stroke-dasharray="6 4"/>`,
    others.length === 0 ? '' : `<path d="${pathOf(others)}" fill="none" stroke="${PAPER}" stroke-width="1.2"/>`,
    `<path d="${pathOf(values)}" fill="none" stroke="${LINE}" stroke-width="1.2"/>`,
    `<text x="${right}" y="${top + HEIGHT + 16}" text-anchor="end">frame ${values.length}</text>`,
  ].join('\n');
}

const plain = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
