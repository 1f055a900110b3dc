import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../src/paths.js';
import { CONSTANTS } from './kernels/constants.js';
import { STRUCTS } from './kernels/structs.js';

const KERNELS = join(projectRoot, 'gpu', 'kernels');

/** A whole line of a kernel: `// #include "common/heights.wgsl"`, relative to gpu/kernels. */
const INCLUDE = /^\s*\/\/\s*#include\s+"([^"]+)"\s*$/;

/** The text of a file under gpu/kernels, by its path there. */
export type KernelReader = (file: string) => string;

export const readKernel: KernelReader = (file) => readFileSync(join(KERNELS, file), 'utf8');

/**
 * Files that replace others on a device with subgroups, which only graphics cards are opened with; the declarations in
 * both are the same, and so are the bytes of the answers.
 */
const WITH_SUBGROUPS: Readonly<Record<string, string>> = {
  'common/append.wgsl': 'common/append-subgroups.wgsl',
  'backward/run-queue.wgsl': 'backward/run-queue-ahead.wgsl',
  'pull-back/limit-edge.wgsl': 'pull-back/limit-edge-ahead.wgsl',
};

/** The reader for devices with the feature `subgroups`. */
const readForSubgroups: KernelReader = (file) => readKernel(WITH_SUBGROUPS[file] ?? file);

const loaded = new Map<string, string>();

/**
 * Returns the complete WGSL of gpu/kernels/NAME.wgsl. Cached.
 *
 * @param name path under gpu/kernels without `.wgsl`
 * @param hasSubgroups the text is for a device that was opened with the feature `subgroups`
 * @throws Error with the missing file and the one that includes it
 */
export function loadKernel(name: string, hasSubgroups = false): string {
  const key = `${name} ${hasSubgroups}`;
  let text = loaded.get(key);
  if (text === undefined) {
    text = assembleKernel(name, hasSubgroups ? readForSubgroups : readKernel);
    loaded.set(key, text);
  }
  return text;
}

/**
 * Assembles a kernel: replaces its includes, each file once, at its first occurrence, and prepends the constants and
 * structs of kernels/constants.ts and kernels/structs.ts that the text names.
 *
 * @param read other texts and declarations of constants only in tests, which plant faults with them
 */
export function assembleKernel(name: string, read = readKernel, constants = CONSTANTS): string {
  const text = expand(`${name}.wgsl`, `loadKernel(${name})`, new Set(), read);
  const names = new Set(text.replace(/\/\/.*/g, '').match(/\b[A-Za-z]\w*\b/g));
  // A directive must precede everything else.
  const declarations: string[] = names.has('subgroupElect') ? ['enable subgroups;'] : [];
  for (const [constant, declaration] of constants) if (names.has(constant)) declarations.push(declaration);
  for (const [struct, layout] of STRUCTS) {
    if (names.has(struct)) declarations.push(layout.declare());
    if (names.has(`${struct}View`)) declarations.push(layout.declare(true));
  }
  return [...declarations, text].join('\n');
}

function expand(file: string, includedBy: string, seen: Set<string>, read: KernelReader): string {
  if (seen.has(file)) return '';
  seen.add(file);
  let text: string;
  try {
    text = read(file);
  } catch (thrown) {
    throw new Error(`The kernel file ${file}, named by ${includedBy}, cannot be read.`, { cause: thrown });
  }
  return text
    .split('\n')
    .map((line) => {
      const include = INCLUDE.exec(line);
      return include ? expand(include[1], file, seen, read) : line;
    })
    .join('\n');
}

/** A buffer that a kernel binds. WGSL names the buffers, so that the host finds them by name. */
export interface Binding {
  readonly index: number;
  readonly name: string;
  readonly type: 'uniform' | 'read-only-storage' | 'storage';
}

const BINDING = /@group\(0\)\s*@binding\((\d+)\)\s*var<\s*(uniform|storage)\s*(?:,\s*(read_write|read)\s*)?>\s*(\w+)/g;

/** Returns every binding that a kernel's text declares in group 0, in index order. */
export function bindingsOf(text: string): Binding[] {
  const bindings: Binding[] = [];
  for (const [, index, space, access, name] of text.matchAll(BINDING)) {
    const type = space === 'uniform' ? 'uniform' : access === 'read_write' ? 'storage' : 'read-only-storage';
    bindings.push({ index: Number(index), name, type });
  }
  return bindings.sort((a, b) => a.index - b.index);
}
