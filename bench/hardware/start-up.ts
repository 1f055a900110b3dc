import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from './items.js';

const LIMIT_MS = 300_000;

/** Milliseconds of wall time, and of processor time of the process, including the threads of a software driver. */
interface Spent {
  readonly wall: number;
  readonly processor: number;
}

/** What a process does before its first answer. */
interface StartUp {
  /** the engine's opening */
  readonly engine: Spent;
  /** then the opening of a first small mesh, with the kernels that only such a mesh needs */
  readonly mesh: Spent;
}

/** Opens the engine in a process of its own, as a service does at its start. @param cache folder of compiled kernels */
function openOnce(cache: string): StartUp {
  const at = (module: string): string => new URL(module, import.meta.url).href;
  const program = `
    const { openEngines, closeEngines } = await import('${at('../engines.js')}');
    const { makeCases } = await import('${at('../cases.js')}');
    const { prepare } = await import('${at('../measure-engines.js')}');
    const spent = async (work) => {
      const processor = process.cpuUsage();
      const began = performance.now();
      const made = await work();
      const { user, system } = process.cpuUsage(processor);
      return [made, { wall: performance.now() - began, processor: (user + system) / 1000 }];
    };
    const [engines, engine] = await spent(() => openEngines(['webgpu']));
    for await (const subject of makeCases(['layers'], [], undefined)) {
      const { mesh, parameters, units } = prepare(subject);
      const [scene, ofMesh] = await spent(() => engines[0].engine.open(mesh, parameters, units));
      scene.close();
      console.log(JSON.stringify({ engine, mesh: ofMesh }));
    }
    await closeEngines(engines);`;
  // The variables of both kinds of drivers (gpu/device/vulkan-host.ts); values set by the caller would hide the folder.
  const hidden = { MESA_SHADER_CACHE_DIR: undefined, __GL_SHADER_DISK_CACHE_PATH: undefined };
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, ...hidden, INTERSTICE_SHADER_CACHE: cache },
    timeout: LIMIT_MS,
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`The engine did not open in a process of its own: ${run.stderr}`);
  return JSON.parse(run.stdout) as StartUp;
}

/**
 * Measures the opening of the engine, and of a first small mesh, until their kernels are ready, with an empty cache of
 * compiled kernels and with a full one.
 */
export async function measureStartUp(): Promise<Outcome> {
  const cache = mkdtempSync(join(tmpdir(), 'interstice-kernels-'));
  try {
    const cold = openOnce(cache);
    const warm = openOnce(cache);
    const seconds = ({ wall, processor }: Spent): string =>
      `${(wall / 1000).toFixed(2)} s (processor time ${(processor / 1000).toFixed(2)} s)`;
    return {
      figures: { cold, warm },
      lines: [
        `engine open after ${seconds(cold.engine)} without compiled kernels, ${seconds(warm.engine)} with them`,
        `its first small mesh after a further ${seconds(cold.mesh)}, and ${seconds(warm.mesh)}`,
      ],
    };
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
}
