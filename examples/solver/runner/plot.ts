import { type Chart, drawCharts, type Line } from './chart.js';
import type { Played, StepRecord } from './records.js';

const valuesOf = (records: readonly StepRecord[], value: (record: StepRecord) => number): Line => ({
  values: records.map(value),
  at: records.map(({ frame }) => frame),
});

/** Plots steps, residual, cost and drift over the frames of a scene, as SVG. */
export function makePlot({ scene, size, adapter, records }: Played): string {
  const { paper } = scene;
  const chart = (title: string, isLogarithmic: boolean, value: (record: StepRecord) => number): Chart => ({
    title,
    isLogarithmic,
    lines: [valuesOf(records, value)],
  });
  const versions = [...new Set(records.map(({ version }) => version))].join(', ');
  const heading = `${scene.name}, ${size}: ${records.length} frames, ${adapter}, algorithm version ${versions}`;
  return drawCharts(heading, [
    { ...chart('steps', false, ({ steps }) => steps), ...from(paper?.averageSteps) },
    chart('residual ‖r‖∞ of the answer', true, ({ residual }) => residual),
    { ...chart('cost, s', true, ({ cost }) => cost), ...from(paper?.averageCost) },
    chart('drift of momentum', true, ({ drift }) => drift),
  ]);
}

const from = (average: number | undefined) => (average === undefined ? {} : { average });

/**
 * Plots steps and cost of runs of several scenes over the simulated time, one line each, as SVG (Fig. 15 and table 1:
 * time steps).
 */
export function plotTogether(heading: string, runs: readonly Played[]): string {
  const lines = (value: (record: StepRecord) => number): Line[] =>
    runs.map(({ scene, records }) => ({
      name: scene.name,
      values: records.map(value),
      at: records.map(({ frame }) => frame * scene.timeStep),
    }));
  const chart = (title: string, value: (record: StepRecord) => number): Chart => ({
    title,
    isLogarithmic: true,
    lines: lines(value),
    axis: 'time, s:',
  });
  return drawCharts(heading, [
    chart('steps', ({ steps }) => steps),
    chart('cost, s', ({ cost }) => cost),
    chart('longest edge over its length in the target', ({ stretch }) => stretch),
  ]);
}

/**
 * Plots steps and cost of the first frame over the angle of the spin, as SVG (Fig. 16e).
 *
 * @param runs of the scenes `spin-…`
 */
export function plotSpins(runs: readonly Played[]): string {
  const at = runs.map(({ scene }) => Number(scene.name.replace('spin-', '')));
  const chart = (title: string, value: (records: readonly StepRecord[]) => number): Chart => ({
    title,
    isLogarithmic: false,
    axis: 'spin, degrees:',
    lines: [{ at, values: runs.map(({ records }) => value(records)) }],
  });
  return drawCharts(`spinning patch, ${runs[0]?.size}: the time step in which it turns`, [
    chart('steps', ([first]) => first!.steps),
    chart('cost, s', ([first]) => first!.cost),
    chart('longest edge over its length in the target', ([first]) => first!.stretch),
    chart('distance to the target, rms, m', ([first]) => first!.distanceRms),
  ]);
}
