import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from './items.js';

const LIMIT_MS = 300_000;

/** Opens the engine in a process of its own, as a service does at its start. @param cache folder of compiled kernels */
function openOnce(cache: string): number {
  const module = new URL('../engines.js', import.meta.url).href;
  const program = `
    const { openEngines, closeEngines } = await import('${module}');
    const began = performance.now();
    const engines = await openEngines(['webgpu']);
    console.log(performance.now() - began);
    await closeEngines(engines);`;
  // The variables of both kinds of drivers (gpu/device/vulkan-host.ts); what the caller has set would hide the folder.
  const hidden = { MESA_SHADER_CACHE_DIR: undefined, __GL_SHADER_DISK_CACHE_PATH: undefined };
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, ...hidden, INTERSTICE_SHADER_CACHE: cache },
    timeout: LIMIT_MS,
    encoding: 'utf8',
  });
  const spent = Number(run.stdout);
  if (run.status !== 0 || !(spent > 0))
    throw new Error(`The engine did not open in a process of its own: ${run.stderr}`);
  return spent;
}

/** The engine's opening until all kernels are ready, with an empty cache of compiled kernels and with a full one. */
export async function measureStartUp(): Promise<Outcome> {
  const cache = mkdtempSync(join(tmpdir(), 'interstice-kernels-'));
  try {
    const coldMilliseconds = openOnce(cache);
    const warmMilliseconds = openOnce(cache);
    const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(2);
    return {
      figures: { coldMilliseconds, warmMilliseconds },
      lines: [
        `engine open after ${seconds(coldMilliseconds)} s without compiled kernels, ${seconds(warmMilliseconds)} s with them`,
      ],
    };
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
}
