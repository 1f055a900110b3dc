import { createCpuEngine } from '../cpu/engine.js';
import type { Engine, Scene } from '../engine.js';
import { toSettings } from '../settings.js';
import { checkVolumes, thinElementsOf } from './check.js';
import { VolumeImpulses } from './volume-impulses.js';

/**
 * The method VOLUME_IMPULSES behind the engine contract, on one thread of the CPU. A scene keeps no data from one
 * resolve to the next, so parking or losing it has no effect.
 */
export function createVolumeImpulsesEngine(): Engine {
  const { description } = createCpuEngine();
  return {
    description: { ...description, qualities: ['FAST'], methods: ['VOLUME_IMPULSES'] },
    hasCheapStates: true,
    async open(mesh, parameters, units): Promise<Scene> {
      checkVolumes(thinElementsOf(mesh));
      let present = { parameters, units };
      return {
        bytes: 0,
        resolve: async (step) => new VolumeImpulses(mesh, toSettings(present.parameters, present.units), step).run(),
        configure: (parameters, units) => {
          present = { parameters, units };
        },
        save: () => ({ ...present, step: 0, proximity: undefined }),
        close: () => undefined,
      };
    },
    close: async () => undefined,
  };
}
