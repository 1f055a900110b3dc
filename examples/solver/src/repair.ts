import { NO_CONTACTS } from './contacts.js';
import { Integrator, type State } from './integrator.js';
import type { Model } from './model.js';
import { type Parameters, type Report, Service } from './service.js';

/** Of the linear solves of the frames without collisions. */
const SOLVER = { tolerance: 1e-3, maxSolverIterations: 3000 };

/**
 * Simulates frames without collision handling: everything falls through everything.
 *
 * @param state the last good frame
 * @param frames time steps
 * @returns float64[3·V], float32 numbers
 */
export async function simulateBlindly(
  model: Model,
  state: State,
  timeStep: number,
  frames: number,
): Promise<Float64Array> {
  const settings = {
    ...SOLVER,
    timeStep,
    iterations: 1,
    repulsionDistance: 0,
    repulsionStiffness: 0,
    contactOffset: 0,
  };
  const blind = {
    step: async (y: Float64Array) => ({
      positions: Float64Array.from(Float32Array.from(y)),
      contacts: NO_CONTACTS,
      report: {} as Report,
    }),
  };
  const integrator = new Integrator(model, blind, settings);
  let reached: State = { ...state, contacts: NO_CONTACTS };
  for (let k = 0; k < frames; k++) reached = (await integrator.step(reached)).state;
  return reached.x;
}

/**
 * Repairs a frame: a session that begins at the last good frame gets the penetrated one as its target. The answer is as
 * near to it as contacts allow and free of intersections.
 *
 * @param address host:port of the gRPC server
 * @param good float64[3·V], free of intersections
 * @param penetrated float64[3·V]
 */
export async function repair(
  address: string,
  model: Model,
  good: Float64Array,
  penetrated: Float64Array,
  parameters: Parameters,
): Promise<{ readonly positions: Float64Array; readonly report: Report }> {
  const service = await Service.open(address, model, good, parameters);
  try {
    return await service.step(penetrated, service.parameter('activationDistance'));
  } finally {
    await service.close();
  }
}
