import type { Scene } from '../scenes/types.js';
import { describeKnot } from './knots.js';
import { describePile } from './layers.js';
import type { Played, StepRecord } from './records.js';

const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0);
const short = (value: number): string => (value === 0 ? '0' : Number(value.toPrecision(3)).toString());
const both = (values: readonly number[]): string => `${short(average(values))} (${short(most(values))})`;

/** Returns the number in all frames together; it is unknown if a frame was not judged. */
function intersectionsOf(records: readonly StepRecord[]): string {
  const judged = records.flatMap(({ intersections }) => intersections ?? []);
  return judged.length === records.length ? String(judged.reduce((a, b) => a + b, 0)) : 'not judged';
}

/** All frames of a scene, the first of them, or those from a certain frame on. */
function framesOf(played: number, all: number, firstFrame: number): string {
  if (firstFrame > 0) return `${firstFrame + 1} to ${firstFrame + played} of ${all}`;
  return played === all ? String(all) : `${played} of ${all}`;
}

/** Processor time of the service; empty if a frame does not state it. */
function processorTimeOf(records: readonly StepRecord[]): string {
  const known = records.flatMap(({ processorTime }) => processorTime ?? []);
  return known.length === records.length ? both(known) : '';
}

/** Least and largest principal stretch in all frames; empty if a frame does not state them. */
function strainOf(records: readonly StepRecord[]): string {
  const known = records.flatMap(({ strain }) => (strain ? [strain] : []));
  if (known.length === 0 || known.length < records.length) return '';
  return `${short(Math.min(...known.map(([least]) => least)))} to ${short(most(known.map(([, largest]) => largest)))}`;
}

/**
 * Frames in which an element exceeded the widest limits of the scene, and the largest excess; empty if any body has
 * none.
 */
function beyondLimits({ bodies }: Scene, records: readonly StepRecord[]): string {
  const elastic = bodies.flatMap(({ material }) =>
    material.kind === 'cloth' || material.kind === 'solid' ? [material] : [],
  );
  const limits = elastic.flatMap((material) => ('strainLimits' in material ? [material.strainLimits!] : []));
  const known = records.flatMap(({ strain }) => (strain ? [strain] : []));
  if (limits.length === 0 || limits.length < elastic.length || known.length < records.length) return '';
  const least = Math.min(...limits.map(([from]) => from));
  const largest = most(limits.map(([, to]) => to));
  const beyond = known.map((strain) => Math.max(0, least - strain[0], strain[1] - largest));
  return `${beyond.filter((by) => by > 0).length} (${short(most(beyond))})`;
}

const PAPER_ADAPTER = 'GeForce GTX 2080 Ti';

const HEADINGS = [
  'scene',
  'size',
  'time step',
  'frames',
  'steps: average (maximum)',
  'of these in the pull-back',
  'as the paper',
  'cost, s: average (maximum)',
  'processor time, s: average (maximum)',
  'searches',
  're-use',
  'residual',
  'stretch',
  'drift',
  'over σ',
  'strain',
  'frames beyond strain limits (by at most)',
  'linear residual',
  'not converged',
  'intersections',
  'knot, layers',
  'engine, version',
];

const COST = HEADINGS.indexOf('cost, s: average (maximum)');

/**
 * Whether average and maximum of the steps are at most those of the paper. For a part of a scene only the maximum can
 * be compared, and the frames after a beginning may still miss it.
 */
function judgeSteps({ scene: { paper, frames }, firstFrame, records }: Played): string {
  if (!paper) return '';
  const steps = records.map((record) => record.steps);
  const say = (what: string, isMet: boolean): string => `${what} ${isMet ? 'met' : 'MISSED'}`;
  const maximum = say('maximum', most(steps) <= paper.maximumSteps);
  const isBeginning = firstFrame === 0 && records.length < frames;
  if (isBeginning && maximum.endsWith(' met')) return `${maximum} so far`;
  return records.length < frames ? maximum : `${say('average', average(steps) <= paper.averageSteps)}, ${maximum}`;
}

/** Table 1: one row of the paper and one of ours for every scene. */
export function makeTable(scenes: readonly Played[]): string {
  const rows = scenes.flatMap((played) => {
    const { scene, size, vertices, elements, firstFrame, records, knot, pile, adapter } = played;
    const { paper, timeStep } = scene;
    const column = (value: (record: StepRecord) => number): number[] => records.map(value);
    const step = `1/${Math.round(1 / timeStep)}`;
    const ours = [
      `${scene.name}, ${size}`,
      `${vertices} vertices, ${elements}`,
      step,
      framesOf(records.length, scene.frames, firstFrame),
      both(column(({ steps }) => steps)),
      both(column(({ pullBackSteps }) => pullBackSteps)),
      judgeSteps(played),
      both(column(({ cost }) => cost)),
      processorTimeOf(records),
      short(average(column(({ searches }) => searches))),
      `${Math.round(100 * average(column(({ reused }) => reused)))} %`,
      both(column(({ residual }) => residual)),
      short(most(column(({ stretch }) => stretch))),
      both(column(({ drift }) => drift)),
      String(most(column(({ overlongEdges }) => overlongEdges))),
      strainOf(records),
      beyondLimits(scene, records),
      short(most(column(({ solverResidual }) => solverResidual))),
      String(records.filter(({ statuses }) => statuses.some((status) => status !== 'CONVERGED')).length),
      intersectionsOf(records),
      knot ? describeKnot(knot) : pile ? describePile(pile) : '',
      `${adapter}, ${[...new Set(records.map(({ version }) => version))].join(', ')}`,
    ];
    if (!paper) return [ours];
    const theirs = [
      paper.name,
      paper.size,
      step,
      '',
      `${paper.averageSteps} (${paper.maximumSteps})`,
      '',
      '',
      `${paper.averageCost} (${paper.maximumCost})`,
      ...HEADINGS.slice(COST + 1, -1).map(() => ''),
      PAPER_ADAPTER,
    ];
    return [theirs, ours];
  });
  const lines = [HEADINGS, HEADINGS.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  return `${lines.join('\n')}\n`;
}

/**
 * Returns a summary of runs of whole scenes, small ones only if there is no larger one, with the paper's steps beside
 * ours.
 */
export function makeStepsTable(scenes: readonly Played[]): string {
  const whole = scenes.filter(({ scene, records }) => records.length === scene.frames);
  const isLarger = ({ scene }: Played) =>
    whole.some((other) => other.scene.name === scene.name && other.size !== 'small');
  return makeShortTable(whole.filter((played) => played.size !== 'small' || !isLarger(played)));
}

/** The same for parts of scenes, for which the paper states no average. */
export const makeWindowsTable = (windows: readonly Played[]): string => makeShortTable(windows);

function makeShortTable(shown: readonly Played[]): string {
  const rows = shown.map((played) => {
    const { scene, size, vertices, firstFrame, records } = played;
    const { paper } = scene;
    const versions = [...new Set(records.map(({ version }) => version))].join(', ');
    const over = most(records.map(({ overlongEdges }) => overlongEdges));
    const open = records.filter(({ statuses }) => statuses.some((status) => status !== 'CONVERGED')).length;
    return [
      `\`${scene.name}\`, ${size}`,
      String(vertices),
      framesOf(records.length, scene.frames, firstFrame),
      versions,
      both(records.map(({ steps }) => steps)),
      paper ? `${paper.averageSteps} (${paper.maximumSteps})` : 'no row',
      judgeSteps(played),
      String(over),
      String(open),
      intersectionsOf(records),
    ];
  });
  const headings = [
    'scene',
    'vertices',
    'frames',
    'version',
    'ours',
    'paper',
    'as the paper',
    'over σ',
    'not converged',
    'intersections',
  ];
  const lines = [headings, headings.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  return lines.join('\n');
}
