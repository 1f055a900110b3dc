import type { MeshInput } from '../../src/contract/mesh.js';

/**
 * Data that is recognised anywhere: every coordinate has this mantissa, whatever its sign and exponent. Maps by
 * powers of two (an engine's units) keep it, and so does widening to float64.
 */
const MANTISSA = 0x2b6d93;
/** 2^23 */
const MANTISSA_RANGE = 0x800000;

/** A number of the secret: 1.33… times 2^exponent. */
export const secretNumber = (exponent: number): number => (1 + MANTISSA / MANTISSA_RANGE) * 2 ** exponent;

/** The secret as it stands in a float32: what freed memory is filled with. */
export const SECRET_WORD = new Uint32Array(Float32Array.of(secretNumber(0)).buffer)[0]!;

/**
 * Where the secret is in these bytes, at any alignment, as a float32 or a float64; -1 = nowhere. By chance alone it is in
 * one of eight million bytes of noise.
 */
export function findSecret(bytes: Uint8Array): number {
  for (let at = bytes.indexOf(SINGLE[0]!); at >= 0; at = bytes.indexOf(SINGLE[0]!, at + 1)) {
    if (bytes[at + 1] === SINGLE[1] && ((bytes[at + 2] ?? 0) & 0x7f) === (SINGLE[2]! & 0x7f)) return at;
  }
  for (let at = bytes.indexOf(DOUBLE[0]!); at >= 0; at = bytes.indexOf(DOUBLE[0]!, at + 1)) {
    const isHere = bytes[at + 1] === DOUBLE[1] && bytes[at + 2] === DOUBLE[2];
    if (isHere && ((bytes[at + 3] ?? 0) & 0x0f) === (DOUBLE[3]! & 0x0f)) return at;
  }
  return -1;
}

/** The bytes of the mantissa, the least first, with bits of the exponent in the last one. */
const SINGLE = new Uint8Array(Float32Array.of(secretNumber(0)).buffer, 0, 3);
const DOUBLE = new Uint8Array(Float64Array.of(secretNumber(0)).buffer, 3, 4);

/** Every array behind plain data, its whole memory: what lies beside a view counts as well. */
export function memoryOf(value: unknown): Uint8Array[] {
  if (ArrayBuffer.isView(value)) return [new Uint8Array(value.buffer)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(memoryOf);
}

/** Exponents of the coordinates along one axis, the same on both sides of 0. */
const EXPONENTS = [-2, -1, 0, 1, 2] as const;
const STEPS = [...EXPONENTS.map((e) => -secretNumber(e)).reverse(), ...EXPONENTS.map(secretNumber)];
/** Vertices along a side of a layer. */
const SIDE = STEPS.length;
const HALF_GAP = secretNumber(-3);

export interface SecretCloth {
  readonly mesh: MeshInput;
  readonly start: Float32Array;
  readonly target: Float32Array;
}

/**
 * Two layers of cloth on a grid that is finer in the middle, each with the place of the other as its target. Its box is
 * symmetric, so that no frame moves its origin.
 */
export function makeSecretCloth(): SecretCloth {
  const layer = (z: number) => STEPS.flatMap((y) => STEPS.flatMap((x) => [x, y, z]));
  const triangles: number[] = [];
  for (const first of [0, SIDE * SIDE]) {
    for (let row = 0; row + 1 < SIDE; row++) {
      for (let column = 0; column + 1 < SIDE; column++) {
        const a = first + row * SIDE + column;
        triangles.push(a, a + 1, a + SIDE, a + 1, a + SIDE + 1, a + SIDE);
      }
    }
  }
  const vertexCount = 2 * SIDE * SIDE;
  const mesh = {
    vertexCount,
    triangles: Uint32Array.from(triangles),
    masses: Float32Array.from({ length: vertexCount }, (_, v) => secretNumber(v % 3)),
  };
  return {
    mesh,
    start: Float32Array.from([...layer(-HALF_GAP), ...layer(HALF_GAP)]),
    target: Float32Array.from([...layer(HALF_GAP), ...layer(-HALF_GAP)]),
  };
}

/**
 * Layers of the same topology: all arrays have the shapes of the secret's. The grid differs, because similar triangles would
 * have similar answers.
 */
export function makePlainCloth(): SecretCloth {
  const { mesh, start, target } = makeSecretCloth();
  const plain = (x: number, i: number) => 0.37 * x + 0.004 * Math.sin(13 * i);
  return {
    mesh: { ...mesh, masses: mesh.masses!.map((_, v) => 1 + (v % 3)) },
    start: start.map(plain),
    target: target.map(plain),
  };
}
