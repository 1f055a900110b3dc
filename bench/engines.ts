import { prepareVulkan } from '../gpu/device/vulkan-host.js';
import { createGpuEngine } from '../gpu/engine.js';
import { IntersticeError } from '../src/contract/errors.js';
import { createCpuEngine } from '../src/solver/cpu/engine.js';
import type { Engine } from '../src/solver/engine.js';

export type EngineName = 'cpu' | 'webgpu';

export interface NamedEngine {
  readonly name: EngineName;
  readonly engine: Engine;
}

/**
 * Opens the engines in the requested order, and the device engine as in production: without the binding's checks of
 * every call.
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
    // The settings of the service, so that both use the same adapter on a machine with several.
    const { INTERSTICE_ADAPTER: adapter, INTERSTICE_SHADER_CACHE: shaderCache } = process.env;
    prepareVulkan({ adapter, shaderCache });
    const { engine, reason } = await createGpuEngine({
      name: adapter,
      allowSoftware: true,
      skipValidation: true,
      timings: true,
    });
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
