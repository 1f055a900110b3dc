/**
 * The innermost loops of the factorisation as a WebAssembly module, which multiplies two doubles at a time; JavaScript
 * cannot. The module is small enough to be assembled here, so it needs no other compiler.
 */
export interface Kernel {
  /**
   * For blocks of three rows j in order: C(i, j) −= L(i) L(j)ᵀ, a 3×3 block of the sums of products of three rows i and
   * three rows j. All arguments are byte addresses or numbers of bytes, except the last.
   *
   * @param i where the first row i of L begins
   * @param j where the first row j of L begins, in the first block
   * @param last where the first row j of L begins in the last block
   * @param c where the first row of C(i, j) begins, in the first block; it is 24 bytes farther in every next block
   * @param stride from a row to the next one, in L and in C
   * @param count columns of L, at least 1
   */
  subtractProducts(i: number, j: number, last: number, c: number, stride: number, count: number): void;
}

/** The part of the WebAssembly interface that is used here; the types of Node.js do not contain it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Memory: new (limits: { initial: number }) => { readonly buffer: ArrayBuffer };
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
};

/** Bytes of a page of memory. */
const PAGE = 65536;

/** Makes a memory of this many doubles, all zero, and the kernel that works in it. */
export function makeKernel(length: number): { readonly values: Float64Array; readonly kernel: Kernel } {
  const memory = new WebAssembly.Memory({ initial: Math.ceil((8 * length) / PAGE) });
  const { exports } = new WebAssembly.Instance((compiled ??= new WebAssembly.Module(assemble())), { e: { m: memory } });
  return { values: new Float64Array(memory.buffer, 0, length), kernel: exports as Kernel };
}

let compiled: object | undefined;

// Instructions: see the WebAssembly specification, "Binary Format".
type Code = readonly number[];
const [I32, V128] = [0x7f, 0x7b];
const END = 0x0b;
const NO_RESULT = 0x40;
const number = (value: number): number[] => (value < 128 ? [value] : [(value % 128) + 128, ...number(value >> 7)]);
const text = (value: string): number[] => [...number(value.length), ...Buffer.from(value)];
const get = (local: number): Code => [0x20, ...number(local)];
const set = (local: number): Code => [0x21, ...number(local)];
/** Less than 64, because constants are signed. */
const constant = (value: number): Code => [0x41, value];
const ADD = [0x6a];
const vector = (code: number): Code => [0xfd, ...number(code)];
const [ADD_VECTORS, MULTIPLY_VECTORS] = [vector(0xf0), vector(0xf2)];
const lane = (index: number): Code => [...vector(0x21), index];
/** An address, a power of two to which it is aligned, and an offset. */
const loadPair = (address: Code, offset: number): Code => [...address, ...vector(0x00), 3, offset];
/** The second one of the pair is 0. */
const loadSingle = (address: Code, offset: number): Code => [...address, ...vector(0x5d), 3, offset];
const increase = (local: number, by: Code): Code => [...get(local), ...by, ...ADD, ...set(local)];

// Local variables: first the parameters.
const [I, J, LAST, C, STRIDE, COUNT] = [0, 1, 2, 3, 4, 5];
/** addresses in the three rows i and the three rows j */
const POINTERS = [6, 7, 8, 9, 10, 11];
const LEFT = 12;
/** the numbers loaded from them, and the sums of products */
const LOADED = [13, 14, 15, 16, 17, 18];
const SUMS = [19, 20, 21, 22, 23, 24, 25, 26, 27];

function body(): Code {
  const at = (first: number, row: number): Code => [
    ...get(first),
    ...Array.from({ length: row }, () => [...get(STRIDE), ...ADD]).flat(),
  ];
  const addProducts = (load: typeof loadPair, offset: number): Code => [
    ...LOADED.flatMap((local, k) => [...load(get(POINTERS[k]!), offset), ...set(local)]),
    ...SUMS.flatMap((sum, k) => [
      ...get(sum),
      ...get(LOADED[Math.floor(k / 3)]!),
      ...get(LOADED[3 + (k % 3)]!),
      ...MULTIPLY_VECTORS,
      ...ADD_VECTORS,
      ...set(sum),
    ]),
  ];
  const store = (sum: number, k: number): Code => {
    const element = [3, 8 * (k % 3)];
    const address = at(C, Math.floor(k / 3));
    const lanes = [...get(sum), ...lane(0), ...get(sum), ...lane(1), 0xa0];
    return [...address, ...address, 0x2b, ...element, ...lanes, 0xa1, 0x39, ...element];
  };
  /** Adds the products of some columns while so many are left. */
  const loop = (columns: number, products: Code): Code => [
    ...[0x02, NO_RESULT, 0x03, NO_RESULT],
    // Leave the block if fewer columns are left.
    ...[...get(LEFT), ...constant(columns), 0x49, 0x0d, 1],
    ...products,
    ...POINTERS.flatMap((local) => increase(local, constant(8 * columns))),
    ...[...get(LEFT), ...constant(columns), 0x6b, ...set(LEFT)],
    ...[0x0c, 0, END, END],
  ];
  return [
    ...[0x03, NO_RESULT],
    ...POINTERS.flatMap((local, k) => [...at(k < 3 ? I : J, k % 3), ...set(local)]),
    ...SUMS.flatMap((local) => [...vector(0x0c), ...Array<number>(16).fill(0), ...set(local)]),
    ...[...get(COUNT), ...set(LEFT)],
    ...loop(4, [...addProducts(loadPair, 0), ...addProducts(loadPair, 16)]),
    ...loop(1, addProducts(loadSingle, 0)),
    ...SUMS.flatMap(store),
    ...increase(C, constant(24)),
    ...[...at(J, 3), ...set(J)],
    // Repeat while j ≤ last.
    ...[...get(J), ...get(LAST), 0x4d, 0x0d, 0, END],
  ];
}

function assemble(): Uint8Array {
  const section = (id: number, content: Code): Code => [id, ...number(content.length), ...content];
  const locals = [2, POINTERS.length + 1, I32, LOADED.length + SUMS.length, V128];
  const code = [...locals, ...body(), END];
  return Uint8Array.from([
    ...[0, ...Buffer.from('asm'), 1, 0, 0, 0],
    ...section(1, [1, 0x60, 6, I32, I32, I32, I32, I32, I32, 0]),
    ...section(2, [1, ...text('e'), ...text('m'), 2, 0, 0]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...text('subtractProducts'), 0, 0]),
    ...section(10, [1, ...number(code.length), ...code]),
  ]);
}
