import type { Played, StepRecord } from './records.js';

const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0);
const short = (value: number): string => (value === 0 ? '0' : Number(value.toPrecision(3)).toString());
const both = (values: readonly number[]): string => `${short(average(values))} (${short(most(values))})`;

const HEADINGS = [
  'scene',
  'size',
  'time step',
  'frames',
  'steps: average (maximum)',
  'cost, s: average (maximum)',
  'searches',
  're-use',
  'residual',
  'stretch',
  'drift',
  'at limit',
];

/** Table 1: one row of the paper and one of ours for every scene. */
export function makeTable(scenes: readonly Played[]): string {
  const rows = scenes.flatMap(({ scene, size, vertices, elements, records }) => {
    const { paper, timeStep } = scene;
    const column = (value: (record: StepRecord) => number): number[] => records.map(value);
    const step = `1/${Math.round(1 / timeStep)}`;
    const ours = [
      `${scene.name}, ${size}`,
      `${vertices} vertices, ${elements}`,
      step,
      String(records.length),
      both(column(({ steps }) => steps)),
      both(column(({ cost }) => cost)),
      short(average(column(({ searches }) => searches))),
      `${Math.round(100 * average(column(({ reused }) => reused)))} %`,
      both(column(({ residual }) => residual)),
      short(most(column(({ stretch }) => stretch))),
      both(column(({ drift }) => drift)),
      String(records.filter(({ statuses }) => statuses.some((status) => status !== 'CONVERGED')).length),
    ];
    if (!paper) return [ours];
    const theirs = [
      paper.name,
      paper.size,
      step,
      '',
      `${paper.averageSteps} (${paper.maximumSteps})`,
      `${paper.averageCost} (${paper.maximumCost})`,
      ...['', '', '', '', '', ''],
    ];
    return [theirs, ours];
  });
  const lines = [HEADINGS, HEADINGS.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  const adapters = [...new Set(scenes.map(({ adapter }) => adapter).filter(Boolean))];
  return `${lines.join('\n')}\n\nPaper: GeForce GTX 2080 Ti. Ours: ${adapters.join(', ')}.\n`;
}
