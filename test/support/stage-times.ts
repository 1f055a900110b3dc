import type { Test } from 'tap';
import type { Engine } from '../../src/solver/engine.js';
import { stackSwap } from '../solver/cases.js';
import { openCase } from './open-case.js';

/** What a caller does with states is no time of a stage. */
export async function expectNoTimeOfCaller(t: Test, engine: Engine): Promise<void> {
  const { mesh, start, target } = stackSwap(6).build();
  const { scene, resolve } = await openCase(engine, mesh, start, target, { quality: 'BALANCED' });
  let spent = 0;
  let states = 0;
  const begun = performance.now();
  const { timings, pullBack } = await resolve({
    onState: () => {
      const before = performance.now();
      states++;
      while (performance.now() < before + 20);
      spent += performance.now() - before;
    },
  });
  const stages = Object.values(timings).reduce((sum, time) => sum + time, 0) / 1000;
  t.ok(pullBack && pullBack.steps > 0 && states > 1, `${states} states, some of the pull-back`);
  // These intervals are disjoint, so this holds however busy the machine is.
  t.ok(stages + spent <= performance.now() - begun, `${stages} ms in stages, ${spent} ms in the caller`);
  scene.close();
}
