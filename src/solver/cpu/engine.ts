import os from 'node:os';
import type { EngineDescription } from '../../contract/server-info.js';
import type { Engine, Scene } from '../engine.js';
import { pairLimit } from '../pair-budget.js';
import { toSettings } from '../settings.js';
import { TwoWay } from './two-way.js';
import { Workspace } from './workspace.js';

export interface CpuEngineOptions {
  /** bytes that the pairs of one request may take; absent or 0 = as many as the engine can count */
  readonly maxPairBytes?: number | undefined;
}

/**
 * The reference engine: every stage in plain TypeScript, in float32 wherever the kernels are, shared with the helper
 * threads of the process if there are any (src/threads). It computes synchronously inside `resolve`, so it should run on
 * a worker thread.
 */
export function createCpuEngine({ maxPairBytes }: CpuEngineOptions = {}): Engine {
  const description: EngineDescription = {
    name: 'cpu',
    adapter: os.cpus()[0]?.model.trim() ?? 'unknown processor',
    software: true,
    maxBufferBytes: 2 ** 32 - 1,
    qualities: ['FAST', 'BALANCED', 'FINE'],
    strainLimits: true,
  };
  // A resolve is one synchronous call, so no two scenes use the workspace at once.
  const workspace = new Workspace(pairLimit(maxPairBytes));
  const scenes = new Set<TwoWay>();
  return {
    description,
    hasCheapStates: true,
    hasPartOffsets: true,
    leavesOutByRule: true,
    async open(mesh, parameters, units, saved): Promise<Scene> {
      const solver = new TwoWay(mesh, toSettings(parameters, units), workspace);
      if (saved) solver.restore(saved);
      scenes.add(solver);
      let present = { parameters, units };
      return {
        get bytes() {
          return solver.bytes;
        },
        resolve: async (step) => solver.resolve(step),
        configure: (parameters, units) => {
          present = { parameters, units };
          solver.configure(toSettings(parameters, units));
        },
        save: () => ({ ...present, ...solver.save() }),
        close: () => {
          if (!scenes.delete(solver)) return;
          const { size: released } = solver;
          solver.dispose();
          // The workspace remains as large as the remaining scenes need.
          if (![...scenes].some(({ size }) => size >= released)) workspace.free();
        },
      };
    },
    get sharedBytes() {
      return workspace.bytes;
    },
    close: async () => undefined,
  };
}
