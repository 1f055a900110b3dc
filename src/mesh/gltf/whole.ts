import { GLB_BUFFER, type GLTF, type JSONDocument } from '@gltf-transform/core';
import { IntersticeError } from '../../contract/errors.js';
import { at, refuse } from './damaged.js';
import { checkNodes } from './nodes.js';

/** Bytes of a component, by its code in the file. */
const COMPONENT_BYTES: Readonly<Record<number, number>> = { 5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4 };
const COMPONENTS: Readonly<Record<string, number>> = {
  SCALAR: 1,
  VEC2: 2,
  VEC3: 3,
  VEC4: 4,
  MAT2: 4,
  MAT3: 9,
  MAT4: 16,
};

/** Attributes that are directions, and their types. */
const DIRECTIONS = [
  ['NORMAL', 'VEC3'],
  ['TANGENT', 'VEC4'],
] as const;

/**
 * Refuses a file with references to missing data. The library would read zeros or other memory in place of missing
 * bytes, and leave out a mesh, a morph target or the transform of a node with a wrong reference.
 *
 * @throws IntersticeError MALFORMED_BODY; Error for JSON of another shape
 */
export function assertWhole({ json, resources }: JSONDocument): void {
  const { buffers = [], bufferViews = [], accessors = [], meshes = [] } = json;
  buffers.forEach(({ uri, byteLength }, n) => {
    const there = resources[uri ?? GLB_BUFFER]?.byteLength ?? 0;
    if (!isCount(byteLength) || there < byteLength) refuse(`buffer ${n} has ${there} of its ${byteLength} bytes`);
  });
  bufferViews.forEach(({ buffer, byteOffset = 0, byteLength }, n) => {
    const { byteLength: size } = at(buffers, buffer, `bufferView ${n}`, 'buffer');
    if (!fits(byteOffset, byteLength, size)) refuse(`bufferView ${n} goes beyond the end of buffer ${buffer}`);
  });
  const bytesOf = ({ bufferView, byteOffset = 0 }: GLTF.IAccessorSparseIndices): DataView => {
    const { buffer, byteOffset: first = 0 } = bufferViews[bufferView]!;
    const bytes = resources[buffers[buffer]!.uri ?? GLB_BUFFER]!;
    return new DataView(bytes.buffer, bytes.byteOffset + first + byteOffset);
  };
  accessors.forEach((accessor, n) => {
    checkAccessor(accessor, `accessor ${n}`, bufferViews, bytesOf);
  });
  meshes.forEach(({ primitives }, n) => {
    for (const { attributes, indices, targets = [] } of primitives) {
      const named = [attributes, ...targets].flatMap((own) => Object.values(own));
      for (const id of [...named, ...(indices === undefined ? [] : [indices])])
        at(accessors, id, `mesh ${n}`, 'accessor');
      if (indices !== undefined) checkIndices(accessors[indices]!, `accessor ${indices}`);
      for (const { POSITION: own } of [attributes, ...targets]) {
        if (own !== undefined && accessors[own]!.type !== 'VEC3') refuse(`the positions of mesh ${n} are no VEC3`);
      }
      // An answer turns these with its node.
      for (const [name, type] of DIRECTIONS) {
        const own = attributes[name];
        if (own !== undefined && accessors[own]!.type !== type) refuse(`the ${name} of mesh ${n} is no ${type}`);
      }
      const { POSITION: positions } = attributes;
      if (positions !== undefined && accessors[positions]!.bufferView === undefined) {
        throw new IntersticeError(
          'UNIMPLEMENTED',
          `The positions of mesh ${n} have no bufferView, which is not read.`,
          {
            hint: 'Export the mesh without sparse accessors.',
          },
        );
      }
    }
  });
  checkNodes(json);
}

/**
 * Why a file could not be read, without the stop. The message of a TypeError describes the reader, which met JSON of
 * another shape, and that of a RangeError its arrays; the reader takes for JSON what has no header of a .glb file.
 */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof TypeError) return 'its JSON does not have the shape of glTF';
  if (thrown instanceof RangeError) return 'it ends before what its header announces';
  const message = (thrown as Error).message.replace(/\.$/, '');
  if (message.startsWith('Network request')) return 'it refers to an address in a network, which is not read';
  return thrown instanceof SyntaxError ? `it is neither a .glb file nor valid JSON (${message})` : message;
}

/** @param bytesOf from the first index of a sparse accessor on */
function checkAccessor(
  accessor: GLTF.IAccessor,
  name: string,
  bufferViews: readonly GLTF.IBufferView[],
  bytesOf: (indices: GLTF.IAccessorSparseIndices) => DataView,
): void {
  const { bufferView, byteOffset = 0, count, componentType, type, sparse } = accessor;
  const size = (COMPONENT_BYTES[componentType] ?? Number.NaN) * (COMPONENTS[type] ?? Number.NaN);
  if (!isCount(count) || Number.isNaN(size)) refuse(`${name} has an invalid count, type or componentType`);
  const check = (view: number, offset: number, items: number, bytes: number, isPacked: boolean) => {
    const { byteLength, byteStride } = at(bufferViews, view, name, 'bufferView');
    if (!isPacked && byteStride !== undefined && !(byteStride >= bytes))
      refuse(`entries of ${name} take ${bytes} bytes, but follow each other after ${byteStride}`);
    const stride = isPacked ? bytes : (byteStride ?? bytes);
    const needed = items === 0 ? 0 : (items - 1) * stride + bytes;
    if (!fits(offset, needed, byteLength)) refuse(`${name} goes beyond the end of bufferView ${view}`);
  };
  if (bufferView !== undefined) check(bufferView, byteOffset, count, size, false);
  if (!sparse) return;
  const { indices, values } = sparse;
  if (!isCount(sparse.count) || sparse.count > count)
    refuse(`${name} replaces ${sparse.count} of its ${count} entries`);
  const indexBytes = COMPONENT_BYTES[indices.componentType] ?? refuse(`${name} has sparse indices of no known type`);
  check(indices.bufferView, indices.byteOffset ?? 0, sparse.count, indexBytes, true);
  check(values.bufferView, values.byteOffset ?? 0, sparse.count, size, true);
  const view = bytesOf(indices);
  for (let k = 0; k < sparse.count; k++) {
    const index = readIndex(view, indexBytes * k, indexBytes);
    if (index >= count) refuse(`${name} replaces entry ${index}, but has only ${count} entries`);
  }
}

/** Component types of indices: unsigned integers. */
const INDEX_TYPES: readonly number[] = [5121, 5123, 5125];

/** Indices of another type would be read as other numbers, and those without data as 0. */
function checkIndices({ type, componentType, normalized = false, bufferView }: GLTF.IAccessor, name: string): void {
  if (type !== 'SCALAR' || !INDEX_TYPES.includes(componentType) || normalized) {
    refuse(`${name} holds indices, but is not of unsigned integers`);
  }
  if (bufferView === undefined) refuse(`${name} holds indices, but has no bufferView`);
}

function readIndex(view: DataView, at: number, bytes: number): number {
  if (bytes === 1) return view.getUint8(at);
  return bytes === 2 ? view.getUint16(at, true) : view.getUint32(at, true);
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
const fits = (offset: number, bytes: number, size: number): boolean =>
  isCount(offset) && isCount(bytes) && offset + bytes <= size;
