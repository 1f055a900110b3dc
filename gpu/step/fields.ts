import { loadKernel, scalarFields } from '../shaders.js';

type Fields = ReadonlyMap<string, 'u32' | 'i32' | 'f32'>;

/** A WGSL struct of 4-byte scalars, read and written by the names of its fields. */
export class ScalarBlock {
  readonly #fields: readonly (readonly [string, string])[];
  readonly #offsets = new Map<string, number>();

  constructor(fields: Fields) {
    this.#fields = [...fields];
    this.#fields.forEach(([name], n) => {
      this.#offsets.set(name, n);
    });
  }

  get bytes(): number {
    return 4 * this.#fields.length;
  }

  /** Which 4-byte word a field is. @throws Error for a name that is not there */
  word(name: string): number {
    const word = this.#offsets.get(name);
    if (word === undefined) throw new Error(`no field ${name} in the kernel's struct`);
    return word;
  }

  /** Fields without a value are 0. @throws Error for a value of a field that does not exist */
  pack(values: Readonly<Record<string, number>>): ArrayBuffer {
    const packed = new DataView(new ArrayBuffer(Math.ceil(this.bytes / 16) * 16));
    for (const name of Object.keys(values)) {
      const n = this.#offsets.get(name);
      if (n === undefined) throw new Error(`no field ${name} in the kernel's struct`);
      const type = this.#fields[n][1];
      if (type === 'f32') packed.setFloat32(4 * n, values[name], true);
      else packed.setUint32(4 * n, values[name] >>> 0, true);
    }
    return packed.buffer;
  }

  unpack(bytes: ArrayBuffer): Record<string, number> {
    const view = new DataView(bytes);
    const values: Record<string, number> = {};
    this.#fields.forEach(([name, type], n) => {
      values[name] = type === 'f32' ? view.getFloat32(4 * n, true) : view.getUint32(4 * n, true);
    });
    return values;
  }
}

export const CONTROL = new ScalarBlock(scalarFields(loadKernel('common/control'), 'Control'));
export const PARAMETERS = new ScalarBlock(scalarFields(loadKernel('common/parameters'), 'Parameters'));

/** Values of Control.state and Control.wantsSearch, as in gpu/kernels/common/control.wgsl. */
export const STATE = {
  RUNNING: 0,
  CONVERGED: 1,
  STALLED: 2,
  AT_STEP_LIMIT: 3,
  NEEDS_SEARCH: 4,
  NEEDS_ROOM: 5,
  NEEDS_CANDIDATES: 6,
} as const;
export const SEARCH = { NONE: 0, PART: 1, ALL: 2, RESUME: 3 } as const;
