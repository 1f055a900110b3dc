import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot } from '../../../src/paths.js';
import { type Fault, plantFault } from './fault.js';

/** The faults to plant in a copy of the build. */
export interface Plant {
  readonly name: string;
  readonly faults: readonly Fault[];
}

const buildFolder = fileURLToPath(new URL('../../../', import.meta.url));
const KERNELS = join('gpu', 'kernels');
/** The files that a service needs to run; without source maps and types a copy is a third of a build. */
const RUNNABLE = {
  recursive: true,
  filter: (path: string) => /\.(js|json)$/.test(path) || statSync(path).isDirectory(),
};

/** A copy of the build reads its own kernels, not those of the checkout. */
const OWN_KERNELS: Fault = {
  file: 'gpu/shaders.js',
  constant: 'KERNELS',
  value: "new URL('./kernels', import.meta.url).pathname",
};

/** Text of a file of the build with the faults of a plant. @throws Error if one does not fit */
export function plantInto(file: string, text: string, faults: readonly Fault[]): string {
  return faults.filter((fault) => fault.file === file).reduce(plantFault, text);
}

/** The text of a file of the build; kernels are not compiled and lie with the sources. */
export function readBuilt(file: string, build = buildFolder): string {
  return readFileSync(file.startsWith(KERNELS) ? join(projectRoot, file) : join(build, file), 'utf8');
}

/** The faults of a plant that no longer fit the build; empty if it can be planted. */
export function misfits({ faults }: Plant, build = buildFolder): string[] {
  const all = [...faults, OWN_KERNELS];
  return [...new Set(all.map(({ file }) => file))].flatMap((file) => {
    try {
      plantInto(file, readBuilt(file, build), all);
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
}

/**
 * Copies the build and plants faults in the copy.
 *
 * @returns the folder of the copy, below the project's scratch folder so that packages are found; remove it afterwards
 */
export async function plant({ name, faults }: Plant): Promise<string> {
  const folder = join(projectRoot, '.build', 'prove-mutants', `${name}-${process.pid}`);
  planted.add(folder);
  await rm(folder, { recursive: true, force: true });
  for (const part of ['src', 'gpu']) await cp(join(buildFolder, part), join(folder, part), RUNNABLE);
  await cp(join(projectRoot, KERNELS), join(folder, KERNELS), { recursive: true });
  const all = [...faults, OWN_KERNELS];
  for (const file of new Set(all.map((fault) => fault.file))) {
    const path = join(folder, file);
    writeFileSync(path, plantInto(file, readFileSync(path, 'utf8'), all));
  }
  return folder;
}

/** Copies that an interrupted campaign leaves behind. */
const planted = new Set<string>();

export async function removePlant(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  planted.delete(folder);
}

/** Removes all copies synchronously, at the end of the process. */
export function removeAllPlants(): void {
  for (const folder of planted) rmSync(folder, { recursive: true, force: true });
}
