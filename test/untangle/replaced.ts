import { IntersticeError } from '../../src/contract/errors.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import type { Engine, StepInput } from '../../src/solver/engine.js';

/**
 * The reference engine with some resolves made by somebody else.
 *
 * @param resolve for the n-th resolve, from 1: OWN = the engine's; LOST = its device is lost; else the positions that
 *   it ends at
 */
export function replaced(resolve: (n: number, step: StepInput) => 'OWN' | 'LOST' | Float32Array): Engine {
  const engine = createCpuEngine();
  let n = 0;
  return {
    ...engine,
    open: async (...opened) => {
      const scene = await engine.open(...opened);
      return {
        bytes: scene.bytes,
        close: () => scene.close(),
        configure: (...settings) => scene.configure(...settings),
        resolve: async (step) => {
          const made = resolve(++n, step);
          if (made === 'LOST') throw new IntersticeError('DEVICE_LOST', 'The device was lost.');
          const resolution = await scene.resolve(step);
          return made === 'OWN' ? resolution : { ...resolution, positions: made };
        },
      };
    },
  };
}
