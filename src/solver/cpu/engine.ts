import os from 'node:os';
import type { EngineDescription } from '../../contract/server-info.js';
import { toSettings } from '../settings.js';
import type { Engine, Scene } from '../types.js';
import { TwoWay } from './two-way.js';
import { Workspace } from './workspace.js';

/**
 * The reference engine: every stage in plain TypeScript, one thread, float32 where the kernels are. It computes
 * synchronously inside `resolve`; run it on a worker thread (src/lanes/scheduler.ts) to keep an event loop free.
 */
export function createCpuEngine(): Engine {
  const description: EngineDescription = {
    name: 'cpu',
    adapter: os.cpus()[0]?.model.trim() ?? 'unknown processor',
    software: true,
    maxBufferBytes: 2 ** 32 - 1,
  };
  // A resolve is one synchronous call, so scenes cannot meet in it.
  const workspace = new Workspace();
  const scenes = new Set<TwoWay>();
  return {
    description,
    hasCheapStates: true,
    async open(mesh, parameters, units): Promise<Scene> {
      const solver = new TwoWay(mesh, toSettings(parameters, units), workspace);
      scenes.add(solver);
      return {
        get bytes() {
          return solver.bytes;
        },
        resolve: async (step) => solver.resolve(step),
        configure: (parameters, units) => solver.configure(toSettings(parameters, units)),
        close: () => {
          if (!scenes.delete(solver)) return;
          // Kept for those that are left, unless none of them needs as much.
          if (![...scenes].some(({ size }) => size >= solver.size)) workspace.release();
        },
      };
    },
    get sharedBytes() {
      return workspace.bytes;
    },
    close: async () => undefined,
  };
}
