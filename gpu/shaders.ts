import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../src/paths.js';

const KERNELS = join(projectRoot, 'gpu', 'kernels');

/** A whole line of a kernel: `// #include "common/heights.wgsl"`, relative to gpu/kernels. */
const INCLUDE = /^\s*\/\/\s*#include\s+"([^"]+)"\s*$/;

const loaded = new Map<string, string>();

/**
 * The WGSL text of gpu/kernels/NAME.wgsl with its includes in place, each file once, where it is first named. Cached.
 *
 * @param name path under gpu/kernels without `.wgsl`
 * @throws Error naming the file that is missing and the one that asked for it
 */
export function loadKernel(name: string): string {
  let text = loaded.get(name);
  if (text === undefined) {
    text = expand(`${name}.wgsl`, `loadKernel(${name})`, new Set());
    loaded.set(name, text);
  }
  return text;
}

function expand(file: string, askedBy: string, seen: Set<string>): string {
  if (seen.has(file)) return '';
  seen.add(file);
  let text: string;
  try {
    text = readFileSync(join(KERNELS, file), 'utf8');
  } catch (thrown) {
    throw new Error(`the kernel file ${file}, asked for by ${askedBy}, cannot be read`, { cause: thrown });
  }
  return text
    .split('\n')
    .map((line) => {
      const include = INCLUDE.exec(line);
      return include ? expand(include[1], file, seen) : line;
    })
    .join('\n');
}

/** How a kernel's file binds a buffer: WGSL names the buffers, so that the host can find them by name. */
export interface Binding {
  readonly index: number;
  readonly name: string;
  readonly type: 'uniform' | 'read-only-storage' | 'storage';
}

const BINDING = /@group\(0\)\s*@binding\((\d+)\)\s*var<\s*(uniform|storage)\s*(?:,\s*(read_write|read)\s*)?>\s*(\w+)/g;

/** Every binding that a kernel's text declares in group 0, in order of index. */
export function bindingsOf(text: string): Binding[] {
  const bindings: Binding[] = [];
  for (const [, index, space, access, name] of text.matchAll(BINDING)) {
    const type = space === 'uniform' ? 'uniform' : access === 'read_write' ? 'storage' : 'read-only-storage';
    bindings.push({ index: Number(index), name, type });
  }
  return bindings.sort((a, b) => a.index - b.index);
}

/**
 * Fields of a WGSL struct of 4-byte scalars, in order: field n lies at byte 4·n.
 *
 * @throws Error when there is no such struct, or a field is not a 4-byte scalar
 */
export function scalarFields(text: string, struct: string): ReadonlyMap<string, 'u32' | 'i32' | 'f32'> {
  const body = new RegExp(`struct ${struct} \\{([^}]*)\\}`).exec(text)?.[1];
  if (body === undefined) throw new Error(`no struct ${struct} in the kernel`);
  const fields = new Map<string, 'u32' | 'i32' | 'f32'>();
  for (const line of body.split('\n')) {
    const code = line.replace(/\/\/.*/, '').trim();
    if (code === '') continue;
    const field = /^(\w+)\s*:\s*(?:atomic<)?(u32|i32|f32)>?,$/.exec(code);
    if (!field) throw new Error(`struct ${struct}: "${code}" is no scalar of 4 bytes`);
    fields.set(field[1], field[2] as 'u32' | 'i32' | 'f32');
  }
  return fields;
}
