import type { Status } from '../../contract/report.js';
import type { Resolution } from '../engine.js';
import { countPairs } from '../pair-report.js';
import type { Settings } from '../settings.js';
import { describeLimiting } from './limiting-pairs.js';
import type { Proximity } from './proximity.js';
import type { Run } from './run.js';

/** Returns the result of a run. Positions and residuals are copies, because the workspace of the run is reused. */
export function toResolution(
  run: Run,
  status: Status,
  { pairs, isValid }: Proximity,
  { epsilon }: Settings,
): Resolution {
  const { activeContacts, colours, pullBack } = run;
  const { residuals, forward, clock } = run.stages;
  return {
    status,
    positions: run.x.slice(),
    residuals: residuals.r.slice(),
    steps: run.steps,
    searches: run.searches,
    proximitySetReused: run.isReused,
    residual: residuals.largest,
    unfinishedVertices: residuals.unfinished,
    pairs: { ...countPairs((kind) => (isValid ? pairs.byKind[kind] : 0)), activeContacts, colours },
    touchingPairs: forward.touching,
    limitingPairs: describeLimiting(residuals, forward, epsilon, pairs),
    timings: clock.timings,
    ...(pullBack ? { pullBack } : {}),
    ...(run.holds ? { holds: run.holds.holds } : {}),
  };
}
