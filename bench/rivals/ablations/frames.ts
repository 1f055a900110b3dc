import { join } from 'node:path';
import { type Chart, drawCharts } from '../../../examples/solver/runner/chart.js';
import { integratorSettingsOf, modelOf } from '../../../examples/solver/runner/play.js';
import type { Scene } from '../../../examples/solver/scenes/types.js';
import { Integrator, startOf } from '../../../examples/solver/src/integrator.js';
import { makeFolder } from '../../../src/folders.js';
import { alignTable } from '../../table.js';
import { writeWhole } from '../../whole-file.js';
import { AblatedHandler, type CallRecord } from './handler.js';
import { GROUPS, PAPER, type Variant } from './variants.js';

/** A time step of a variant's own simulation. */
interface FrameRecord extends CallRecord {
  /** drift of momentum: |Σ impulses| over Σ |impulses| of contacts */
  readonly drift: number;
}

/** A simulation with a variant instead of the service. */
export interface Sequence {
  readonly variant: Variant;
  readonly records: readonly FrameRecord[];
  /** whether an answer of a variant intersected, so that the next frame would have no valid start */
  readonly isCutShort: boolean;
}

/** Plays the first frames of a scene with a variant; every variant continues from its own answers. */
export async function playFrames(scene: Scene, variant: Variant, frames: number, stepLimit: number): Promise<Sequence> {
  const model = modelOf(scene);
  const handler = new AblatedHandler(model, scene.parameters ?? {}, variant, stepLimit);
  const { activationDistance, contactOffset } = handler;
  const integrator = new Integrator(model, handler, integratorSettingsOf(scene, { activationDistance, contactOffset }));
  const records: FrameRecord[] = [];
  let state = startOf(model);
  let isCutShort = false;
  while (state.frame < Math.min(frames, scene.frames) && !isCutShort) {
    const result = await integrator.step(state);
    state = result.state;
    const { linear, total } = result.iterations.at(-1)!.impulses;
    records.push({ ...handler.calls.at(-1)!, drift: total > 0 ? Math.hypot(...linear) / total : 0 });
    isCutShort = records.at(-1)!.intersections > 0;
  }
  return { variant, records, isCutShort };
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0);

const HEADINGS = [
  ...['method', 'frames', 'steps: average (maximum)', 'not converged', 'searches', 'ms: average (maximum)'],
  ...['longest edge', 'momentum', 'safe'],
];

function cellsOf({ variant, records, isCutShort }: Sequence): string[] {
  const column = (value: (record: FrameRecord) => number): number[] => records.map(value);
  const both = (values: readonly number[], digits: number): string =>
    `${(sum(values) / values.length).toFixed(digits)} (${most(values).toFixed(0)})`;
  const pieces = sum(column(({ collidingPieces }) => collidingPieces));
  const intersections = sum(column((record) => record.intersections));
  return [
    ...[variant.name, `${records.length}${isCutShort ? ', then its answer intersects' : ''}`],
    ...[
      both(
        column(({ steps }) => steps),
        1,
      ),
      String(records.filter(({ status }) => status !== 'CONVERGED').length),
    ],
    (sum(column(({ searches }) => searches)) / records.length).toFixed(1),
    both(
      column(({ cost }) => cost),
      0,
    ),
    most(column(({ stretch }) => stretch)).toFixed(2),
    (sum(column(({ drift }) => drift)) / records.length).toExponential(0),
    pieces + intersections === 0 ? 'yes' : `**no**: ${pieces} pieces collide, ${intersections} intersections`,
  ];
}

function plot(heading: string, runs: readonly Sequence[]): string {
  const chart = (title: string, value: (record: FrameRecord) => number): Chart => ({
    title,
    isLogarithmic: true,
    lines: runs.map(({ variant, records }) => ({ name: variant.name, values: records.map(value) })),
  });
  return drawCharts(heading, [
    chart('steps of the frame', ({ steps }) => steps),
    chart('cost of the frame, ms of the processor', ({ cost }) => cost),
    chart('vertices that did not finish (r ≥ ε)', ({ unfinished }) => unfinished),
    chart('longest edge over its length in the target', ({ stretch }) => stretch),
    chart('drift of momentum', ({ drift }) => drift),
  ]);
}

/**
 * Plays the scene with every variant from its start: prints the table to standard output, and writes a plot of each
 * group to `folder`.
 *
 * @param stepLimit of each frame
 * @param word that the file name of a group must contain; '' = all
 * @param folder for the plots; undefined = none
 */
export async function runFrames(
  scene: Scene,
  frames: number,
  stepLimit: number,
  folder: string | undefined,
  word: string,
): Promise<void> {
  const rows: string[][] = [];
  const note = async (variant: Variant): Promise<Sequence> => {
    const sequence = await playFrames(scene, variant, frames, stepLimit);
    rows.push(cellsOf(sequence));
    process.stderr.write(`${rows.at(-1)!.join(' | ')}\n`);
    return sequence;
  };
  // The first frames include the time of the compiler.
  await playFrames(scene, PAPER, 3, stepLimit);
  const paper = await note(PAPER);
  if (folder) makeFolder(folder);
  for (const group of GROUPS) {
    if (!group.file.includes(word)) continue;
    const runs = [paper];
    for (const variant of group.variants) runs.push(await note(variant));
    if (!folder) continue;
    const file = join(folder, `frames-${group.file}-${scene.name}.svg`);
    writeWhole(file, plot(`${group.name}: ${scene.name}, ${paper.records.length} frames`, runs));
  }
  process.stdout.write(`${alignTable([HEADINGS, ...rows])}\n`);
}
