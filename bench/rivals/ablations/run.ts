import { join } from 'node:path';
import { makeFolder } from '../../../src/folders.js';
import { alignTable } from '../../table.js';
import { writeWhole } from '../../whole-file.js';
import { ABLATION_SCENES } from '../scenes.js';
import { drawCharts } from './chart.js';
import { type Played, play } from './play.js';
import { GROUPS, PAPER } from './variants.js';

const HEADINGS = [
  ...['scene', 'method', 'status', 'steps', 'searches', 'residual', 'unfinished', 'ms', 'ms/step', 'rms to target'],
  ...['longest edge', 'momentum', 'safe'],
];

/** 'yes', or the verifier's findings. */
function safetyOf({ collidingPieces, intersections }: Played): string {
  if (collidingPieces === 0 && intersections === 0) return 'yes';
  return `NO: ${collidingPieces} pieces collide, ${intersections} intersections`;
}

function cellsOf(scene: string, played: Played): string[] {
  const { variant, status, steps, searches, records, cost, rms, stretch, momentum } = played;
  const last = records.at(-1);
  return [
    ...[scene, variant.name, status, String(steps), String(searches)],
    ...[last ? last.residual.toExponential(0) : '', last ? String(last.unfinished) : ''],
    ...[cost.toFixed(0), (cost / Math.max(1, steps)).toFixed(1), rms.toFixed(3), stretch.toFixed(2)],
    ...[momentum.toExponential(0), safetyOf(played)],
  ];
}

function plot(heading: string, runs: readonly Played[]): string {
  const lines = (value: (record: Played['records'][number]) => number) =>
    runs.map(({ variant, records }) => ({ name: variant.name, values: records.map(value) }));
  return drawCharts(heading, [
    { title: 'residual ‖r‖∞', lines: lines(({ residual }) => residual) },
    { title: 'vertices with r ≥ ε', lines: lines(({ unfinished }) => unfinished) },
    { title: 'cost of the step, ms', lines: lines(({ cost }) => cost) },
  ]);
}

/**
 * Runs every variant of every group in every scene: prints the table to standard output, and writes a plot of each
 * group to `folder`.
 *
 * @param stepLimit of each run
 * @param word of the scene's name
 * @param folder for the plots; undefined = none
 */
export function runAblations(stepLimit: number, word: string, folder: string | undefined): void {
  const rows: string[][] = [];
  const note = (scene: string, played: Played): Played => {
    rows.push(cellsOf(scene, played));
    process.stderr.write(`${rows.at(-1)?.join(' | ')}\n`);
    return played;
  };
  if (folder) makeFolder(folder);
  for (const { name, make } of ABLATION_SCENES) {
    if (!name.includes(word)) continue;
    const pair = make();
    // The first run includes the time of the compiler.
    play(pair, PAPER, stepLimit);
    const paper = note(name, play(pair, PAPER, stepLimit));
    for (const group of GROUPS) {
      const runs = [paper, ...group.variants.map((variant) => note(name, play(pair, variant, stepLimit)))];
      if (!folder) continue;
      const file = `ablation-${group.file}-${name.replaceAll(/\W+/g, '-')}.svg`;
      writeWhole(join(folder, file), plot(`${group.name}: ${name}`, runs));
    }
  }
  process.stdout.write(`${alignTable([HEADINGS, ...rows])}\n`);
}
