import { createGpuEngine } from '../gpu/engine.js';
import { createCpuEngine } from '../src/solver/cpu/engine.js';
import type { Engine } from '../src/solver/engine.js';

export type EngineName = 'cpu' | 'webgpu';

export interface NamedEngine {
  readonly name: EngineName;
  readonly engine: Engine;
}

/**
 * Opens the engines in the order asked for, the device one as production does: without the binding's checks of every call.
 *
 * @throws Error with the reason when there is no fit adapter
 */
export async function openEngines(names: readonly EngineName[]): Promise<NamedEngine[]> {
  const engines: NamedEngine[] = [];
  for (const name of names) {
    if (name === 'cpu') {
      engines.push({ name, engine: createCpuEngine() });
      continue;
    }
    const { engine, reason } = await createGpuEngine({ allowSoftware: true, skipValidation: true, timings: true });
    if (!engine) {
      await closeEngines(engines);
      throw new Error(`The engine webgpu cannot be measured: ${reason}`);
    }
    engines.push({ name, engine });
  }
  return engines;
}

export async function closeEngines(engines: readonly NamedEngine[]): Promise<void> {
  await Promise.all(engines.map(({ engine }) => engine.close()));
}
