import type { Test } from 'tap';
import { WINDOW } from '../../src/solver/constants.js';
import type { Engine } from '../../src/solver/engine.js';
import { openCase } from '../support/open-case.js';
import { pinch } from './cases.js';

/** The plates are stopped in the first window of steps, and two without progress end Algorithm 1. */
const MOST_STEPS = 3.5 * WINDOW;

/**
 * Two kinematic plates that are to pass through each other, and layers elsewhere that are to change places, which keeps
 * them moving for longer.
 */
function platesAndLayers() {
  const scene = pinch(-0.004);
  const [layers, quads] = [12, 3];
  for (let k = 0; k < layers; k++) {
    scene.sheet(quads, (u, v) => {
      const [x, z] = [1 + 0.03 * u, 0.03 * v];
      return { at: [x + 0.0005 * k, 0.008 * k, z + 0.0003 * k], to: [x, 0.008 * (layers - 1 - k), z] };
    });
  }
  return scene.build();
}

/** The pull-back of dynamic vertices follows as soon as kinematic vertices cannot go on, whatever the others do. */
export function testHandOver(t: Test, engine: Engine): void {
  t.test('layers that still move do not keep Algorithm 1 from ending where kinematic plates are stopped', async (t) => {
    const { mesh, start, target } = platesAndLayers();
    const opened = await openCase(engine, mesh, start, target, { quality: 'BALANCED', stepLimit: 400 });
    const { status, steps, pullBack } = await opened.resolve();
    opened.scene.close();
    t.equal(status, 'STALLED');
    t.ok(pullBack!.steps > 0, 'the pull-back follows');
    t.ok(steps - pullBack!.steps <= MOST_STEPS, `${steps - pullBack!.steps} steps of Algorithm 1`);
  });
}
