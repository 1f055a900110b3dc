import type { Test } from 'tap';
import type { Engine } from '../../src/solver/engine.js';
import { runJob } from '../support/job.js';
import { compare } from '../support/parked-sessions.js';
import { DirectSession } from '../support/scenes.js';

const POINTS = 12;
const EDGE = 0.01;

const parameters = { activationDistance: 1e-3, leap: 0.02 };

/**
 * Two strands that hang beside each other from two kinematic points each. In the target they bend towards each other, by
 * these lengths at their tips and a little across.
 */
function strands(places: readonly [number, number], sweeps: readonly [number, number]) {
  const start: number[] = [];
  const target: number[] = [];
  const segments: number[] = [];
  for (const [n, place] of places.entries()) {
    const base = [0.006 * (place % 8) + 0.003 * n, 0.0015 * n];
    for (let k = 0; k < POINTS; k++) {
      const at = [base[0]! + 0.0005 * Math.sin(k + place), base[1]!, -EDGE * k];
      const share = k / (POINTS - 1);
      start.push(...at);
      target.push(at[0]! + (n === 0 ? 1 : -1) * sweeps[n]! * share ** 2, at[1]! + 0.3 * sweeps[n]! * share, at[2]!);
      if (k > 0) segments.push(POINTS * n + k - 1, POINTS * n + k);
    }
  }
  const kinematic = Uint8Array.from({ length: 2 * POINTS }, (_, v) => (v % POINTS < 2 ? 1 : 0));
  const mesh = { vertexCount: 2 * POINTS, segments: Uint32Array.from(segments), kinematic };
  return { mesh, start: Float64Array.from(start), target: Float64Array.from(target) };
}

/** Sessions whose frames use the pairs and boxes of the frames before, for every engine. */
export function testReusedPairs(t: Test, engine: Engine): void {
  t.test('strands whose motions grow in a session pass each other as they do frame by frame', async (t) => {
    let reused = 0;
    for (const [name, { mesh, start, target }] of [
      ['28 and 29', strands([28, 29], [0.0482312, 0.01307601])],
      ['8 and 9', strands([8, 9], [0.0583659, 0.01716724])],
    ] as const) {
      const session = new DirectSession({ mesh, start }, engine);
      await session.open(parameters);
      let x = start;
      for (let frame = 1; frame <= 4; frame++) {
        const goal = start.map((value, k) => value + (frame / 12) * (target[k]! - value));
        const { answer: alone } = await runJob({ mesh, start: x, target: goal, parameters }, engine);
        x = Float64Array.from(alone.positions);
        const { report } = await session.step(goal, { parameters });
        t.equal(report.status, 'CONVERGED');
        t.equal(report.verification.intersections, 0);
        if (report.proximitySetReused) reused++;
        const farther = report.distanceToTargetRms - alone.report.distanceToTargetRms;
        // Strands that hook together end 0.6 δ farther away in the third frame, and 1.3 δ in the fourth.
        const most = 0.1 * parameters.activationDistance;
        t.ok(farther < most, `${name}, frame ${frame}: ${farther / parameters.activationDistance} δ`);
      }
      await session.park();
    }
    t.ok(reused >= 2, `${reused} frames used the pairs of the frame before`);
  });

  t.test('such frames have the same bytes where the session was parked before each', async (t) => {
    const { mesh, start, target } = strands([28, 29], [0.0482312, 0.01307601]);
    const frames = [1, 2, 3, 4].map((frame) => start.map((value, k) => value + (frame / 12) * (target[k]! - value)));
    t.ok((await compare(t, { mesh, start, frames }, parameters, () => engine)) > 0);
  });
}
