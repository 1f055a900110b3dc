import { createGpuEngine } from '../gpu/engine.js';
import { IntersticeError } from '../src/contract/errors.js';
import { createCpuEngine } from '../src/solver/cpu/engine.js';
import type { Engine } from '../src/solver/engine.js';
import { deviceOptions } from './device.js';

export type EngineName = 'cpu' | 'webgpu';

export interface NamedEngine {
  readonly name: EngineName;
  readonly engine: Engine;
}

/**
 * Opens the engines in the requested order.
 *
 * @throws INVALID_PARAMETER with the reason if there is no suitable adapter
 */
export async function openEngines(names: readonly EngineName[]): Promise<NamedEngine[]> {
  const engines: NamedEngine[] = [];
  for (const name of names) {
    if (name === 'cpu') {
      engines.push({ name, engine: createCpuEngine() });
      continue;
    }
    const { engine, reason } = await createGpuEngine({ ...deviceOptions(), timings: true });
    if (!engine) {
      await closeEngines(engines);
      throw new IntersticeError('INVALID_PARAMETER', `The engine webgpu cannot be measured: ${reason}`);
    }
    engines.push({ name, engine });
  }
  return engines;
}

export async function closeEngines(engines: readonly NamedEngine[]): Promise<void> {
  await Promise.all(engines.map(({ engine }) => engine.close()));
}
