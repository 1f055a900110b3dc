import os from 'node:os';
import { toSettings } from '../settings.js';
import type { Engine, EngineDescription, Scene } from '../types.js';
import { TwoWay } from './two-way.js';

/**
 * The reference engine: every stage in plain TypeScript, one thread, float32 where the kernels are. It computes
 * synchronously inside `resolve`; run it on a worker thread (schedule/scheduler.ts) to keep an event loop free.
 */
export function createCpuEngine(): Engine {
  const description: EngineDescription = {
    name: 'cpu',
    adapter: os.cpus()[0]?.model.trim() ?? 'unknown processor',
    software: true,
    maxBufferBytes: 2 ** 32 - 1,
  };
  return {
    description,
    hasCheapStates: true,
    async open(mesh, parameters, units): Promise<Scene> {
      const solver = new TwoWay(mesh, toSettings(parameters, units));
      return {
        get bytes() {
          return solver.bytes;
        },
        resolve: async (step) => solver.resolve(step),
        configure: (parameters, units) => solver.configure(toSettings(parameters, units)),
        close: () => undefined,
      };
    },
    close: async () => undefined,
  };
}
