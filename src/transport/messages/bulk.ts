import { endianness } from 'node:os';
import { IntersticeError } from '../../contract/errors.js';

/** Element type of a bulk field, which is little-endian without padding. */
export type ElementType = 'uint8' | 'uint32' | 'float32' | 'float64';

export type BulkArray = Uint8Array | Uint32Array | Float32Array | Float64Array;

interface BulkArrays {
  uint8: Uint8Array;
  uint32: Uint32Array;
  float32: Float32Array;
  float64: Float64Array;
}

/**
 * Element type of every `bytes` field of the contract, by message and field. `scalar` means that the sibling field
 * `scalar` gives it. The comments of the .proto state the same; a test compares both.
 */
export const BULK_FIELDS: Readonly<Record<string, ElementType | 'scalar'>> = {
  'Mesh.triangles': 'uint32',
  'Mesh.segments': 'uint32',
  'Mesh.particles': 'uint32',
  'Mesh.tetrahedra': 'uint32',
  'Mesh.masses': 'float32',
  'Mesh.kinematic': 'uint8',
  'Mesh.ignored_part_pairs': 'uint32',
  'RestLengths.edges': 'uint32',
  'RestLengths.lengths': 'float32',
  'Positions.data': 'scalar',
  'StepRequest.kinematic': 'uint8',
  'StepRequest.masses': 'float32',
  'Contacts.kinds': 'uint8',
  'Contacts.vertices': 'uint32',
  'Contacts.weights': 'float32',
  'Contacts.normals': 'float32',
  'Contacts.distances': 'float32',
  'Contacts.multipliers': 'float32',
  'VertexReport.residual': 'float32',
  'VertexReport.distance_to_target': 'float32',
  'VertexReport.unreached_kinematic': 'uint32',
  'Path.phases': 'uint8',
  'Path.steps': 'uint32',
  'Reasons.holds': 'uint8',
  'Reasons.pairs': 'uint32',
  'Reasons.since': 'uint32',
  'Reasons.kinds': 'uint8',
  'Reasons.vertices': 'uint32',
  'Reasons.normals': 'float32',
  'Reasons.distances': 'float32',
  'UntangleResponse.regions': 'uint32',
  'UntangledContour.points': 'float32',
};

const CONSTRUCTORS = {
  uint8: Uint8Array,
  uint32: Uint32Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;

/** Typed arrays use the byte order of the host; bulk fields are little-endian. */
const hostIsLittleEndian = endianness() === 'LE';

function swap(bytes: Uint8Array, width: number): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (width === 4) buffer.swap32();
  if (width === 8) buffer.swap64();
}

/**
 * The elements of a bulk field: a view of its bytes if they are aligned, otherwise a copy.
 * @param bytes little-endian, row-major
 * @param field name for error messages
 * @throws SIZE_MISMATCH if the length is not a multiple of the element size
 */
export function readBulk<E extends ElementType>(bytes: Uint8Array, element: E, field: string): BulkArrays[E] {
  const Constructor = CONSTRUCTORS[element];
  const width = Constructor.BYTES_PER_ELEMENT;
  if (bytes.byteLength % width !== 0) {
    throw new IntersticeError(
      'SIZE_MISMATCH',
      `${field} holds ${element} values of ${width} bytes each, but ${bytes.byteLength} bytes were sent.`,
      { hint: `Send a multiple of ${width} bytes, little-endian and without padding.` },
    );
  }
  const length = bytes.byteLength / width;
  if (hostIsLittleEndian && bytes.byteOffset % width === 0) {
    return new Constructor(bytes.buffer as ArrayBuffer, bytes.byteOffset, length) as BulkArrays[E];
  }
  const copy = new Uint8Array(bytes.byteLength);
  copy.set(bytes);
  if (!hostIsLittleEndian) swap(copy, width);
  return new Constructor(copy.buffer, 0, length) as BulkArrays[E];
}

/** The little-endian bytes of a typed array: a view on a little-endian host, otherwise a copy. */
export function writeBulk(array: ArrayBufferView): Uint8Array {
  const view = new Uint8Array(array.buffer as ArrayBuffer, array.byteOffset, array.byteLength);
  const width = (array as { BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1;
  if (hostIsLittleEndian || width === 1) return view;
  const copy = Uint8Array.from(view);
  swap(copy, width);
  return copy;
}

/** The little-endian bytes of a JSON array of numbers. Errors name the element, e.g. `mesh.triangles[7]`. */
export function packNumbers(values: readonly unknown[], element: ElementType, path: string): Uint8Array {
  const packed = new CONSTRUCTORS[element](values.length);
  const isFloat = element === 'float32' || element === 'float64';
  const largest = element === 'uint8' ? 0xff : 0xffffffff;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value !== 'number') refuseElement(value, element, `${path}[${i}]`);
    if (isFloat) {
      // A Float32Array rounds once to nearest even, exactly like Math.fround.
      packed[i] = value;
      if (!Number.isFinite(packed[i])) refuseNotFinite(value, element, `${path}[${i}]`);
    } else {
      if (!Number.isInteger(value) || value < 0 || value > largest) {
        throw new IntersticeError('MALFORMED_BODY', `${path}[${i}] is ${value}, expected ${describe(element)}.`);
      }
      packed[i] = value;
    }
  }
  return writeBulk(packed);
}

function describe(element: ElementType): string {
  if (element === 'uint8') return 'an integer from 0 to 255';
  if (element === 'uint32') return 'an integer from 0 to 4294967295';
  return `a finite ${element} number`;
}

function refuseElement(value: unknown, element: ElementType, path: string): never {
  const isFloat = element === 'float32' || element === 'float64';
  if (isFloat && (value === 'NaN' || value === 'Infinity' || value === '-Infinity')) {
    refuseNotFinite(value, element, path);
  }
  const shown = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
  const hint = Array.isArray(value) ? 'Bulk arrays are flat: [x0, y0, z0, x1, …].' : undefined;
  throw new IntersticeError('MALFORMED_BODY', `${path} is ${shown}, expected ${describe(element)}.`, { hint });
}

function refuseNotFinite(value: unknown, element: ElementType, path: string): never {
  throw new IntersticeError('NOT_FINITE', `${path} is ${String(value)}, which is not a finite ${element} number.`);
}
