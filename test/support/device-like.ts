import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import type { Engine, Scene } from '../../src/solver/engine.js';

/** The CPU engine with scenes that are read, as those on a device are, and not saved: no step keeps the pairs that it begins from. */
export function deviceLikeEngine(): Engine {
  const engine = createCpuEngine();
  return {
    ...engine,
    open: async (...request): Promise<Scene> => {
      const scene = await engine.open(...request);
      return {
        get bytes() {
          return scene.bytes;
        },
        resolve: (step) => scene.resolve(step),
        configure: (...settings) => scene.configure(...settings),
        read: async () => scene.save!(),
        close: () => scene.close(),
      };
    },
  };
}
