type ScalarType = 'u32' | 'f32' | 'atomic<u32>';
type FieldType = ScalarType | 'vec4f';

/** One field of a struct: its WGSL type and, in one line, its meaning. */
export type StructField = readonly [type: FieldType, meaning: string];

const WORD_BYTES = 4;
/** WGSL aligns a vec4f to 16 bytes; a uniform buffer is padded to a multiple of this. */
const VECTOR_BYTES = 16;

/** The values of a struct's scalar fields. */
export type StructValues<S> = S extends Struct<infer Name> ? Readonly<Record<Name, number>> : never;

/**
 * A struct that the host and the kernels share. One table of fields gives the WGSL text, the places of the fields, and
 * the code that writes and reads them on the host, so a field is added in one place.
 */
export class Struct<Name extends string> {
  /** Size of one struct in an array of them; a multiple of 4. */
  readonly bytes: number;
  readonly #fields: readonly (readonly [name: Name, ...StructField])[];
  readonly #offsets = new Map<string, number>();

  constructor(
    readonly name: string,
    fields: Readonly<Record<Name, StructField>>,
  ) {
    this.#fields = (Object.entries(fields) as [Name, StructField][]).map(([field, rest]) => [field, ...rest]);
    let end = 0;
    for (const [field, type] of this.#fields) {
      if (type === 'vec4f') end = roundUp(end);
      this.#offsets.set(field, end);
      end += type === 'vec4f' ? VECTOR_BYTES : WORD_BYTES;
    }
    this.bytes = this.#fields.some(([, type]) => type === 'vec4f') ? roundUp(end) : end;
  }

  /** Size of one struct in 4-byte words. */
  get words(): number {
    return this.bytes / WORD_BYTES;
  }

  /** Returns the 4-byte word at which a field begins. */
  word(field: Name): number {
    return (this.#offsets.get(field) as number) / WORD_BYTES;
  }

  /** One struct, padded for a uniform buffer. Scalar fields without a value are 0. */
  pack(values: Readonly<Partial<Record<Name, number>>>): ArrayBuffer {
    const view = new DataView(new ArrayBuffer(roundUp(this.bytes)));
    for (const field of Object.keys(values) as Name[]) this.write(view, field, values[field] ?? 0);
    return view.buffer;
  }

  /** Writes a scalar field of the struct that begins at `from`. @throws Error for a field that does not exist */
  write(view: DataView, field: Name, value: number, from = 0): void {
    const offset = this.#offsets.get(field);
    if (offset === undefined) throw new Error(`The struct ${this.name} has no field ${field}.`);
    if (this.#typeOf(field) === 'f32') view.setFloat32(from + offset, value, true);
    else view.setUint32(from + offset, value >>> 0, true);
  }

  /** Returns the four bytes of a scalar field. */
  encode(field: Name, value: number): Uint32Array<ArrayBuffer> {
    return this.#typeOf(field) === 'f32' ? new Uint32Array(Float32Array.of(value).buffer) : Uint32Array.of(value);
  }

  /** Returns the scalar fields of the struct at the beginning of `bytes`. */
  unpack(bytes: ArrayBuffer): Record<Name, number> {
    const view = new DataView(bytes);
    const values: Partial<Record<Name, number>> = {};
    for (const [field, type] of this.#fields) {
      const offset = this.#offsets.get(field) as number;
      if (type === 'f32') values[field] = view.getFloat32(offset, true);
      else if (type !== 'vec4f') values[field] = view.getUint32(offset, true);
    }
    return values as Record<Name, number>;
  }

  /**
   * Returns the WGSL declaration.
   *
   * @param isView without atomics, as `NameView`, for kernels that bind the buffer read-only: WGSL allows no atomics
   *   there
   */
  declare(isView = false): string {
    const lines = this.#fields.map(([field, type, meaning]) => {
      return `  ${field}: ${isView ? type.replace('atomic<u32>', 'u32') : type}, // ${meaning}`;
    });
    return `struct ${this.name}${isView ? 'View' : ''} {\n${lines.join('\n')}\n}`;
  }

  #typeOf(field: Name): FieldType | undefined {
    return this.#fields.find(([name]) => name === field)?.[1];
  }
}

const roundUp = (bytes: number): number => Math.ceil(bytes / VECTOR_BYTES) * VECTOR_BYTES;
