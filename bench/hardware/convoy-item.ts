import { requestOf } from '../../examples/resolve-scene.js';
import { SCENES } from '../../examples/scenes/index.js';
import { compareConvoy, openContestants } from '../convoy/suite.js';
import { prepare } from '../measure-engines.js';
import type { Outcome } from './items.js';

const VERTICES = 1000;

/**
 * Measures sessions of one small mesh that step at the same time on one device, each alone and together, alternating
 * frame by frame.
 */
export async function measureConvoy(sessions: number): Promise<Outcome> {
  const engines = await openContestants();
  try {
    const { mesh, start, target, parameters } = requestOf(SCENES.layers(VERTICES));
    const request = { mesh, start, target, parameters: { ...parameters, quality: 'FAST' as const } };
    const rows = await compareConvoy(engines, prepare({ request }), sessions);
    const faults = rows.flatMap(({ name, hasContact, isSame }) => [
      ...(hasContact ? [] : [`a session ${name} has no contact`]),
      ...(isSame ? [] : [`sessions ${name} have other bytes than those that submit alone`]),
    ]);
    return {
      figures: rows,
      faults,
      lines: rows.map(
        ({ name, stepsPerSecond, processorPerStep, dispatchesPerStep, scenesPerDispatch, slowestOverMedian }) =>
          `${sessions} sessions ${name}: ${stepsPerSecond.toFixed(1)} steps a second, processor ${processorPerStep.toFixed(2)} ms a step, ` +
          `${dispatchesPerStep.toFixed(2)} dispatches a step for ${scenesPerDispatch.toFixed(1)} scenes each, slowest over median ${slowestOverMedian.toFixed(2)}`,
      ),
    };
  } finally {
    for (const engine of engines) await engine.close();
  }
}
