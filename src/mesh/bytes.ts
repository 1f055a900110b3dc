import type { CollisionMesh, MeshInput } from './types.js';

/** Bytes of the arrays of a mesh, as it was sent or as it was built; of both together where each array is counted once. */
export function bytesOfMesh(...meshes: readonly (CollisionMesh | MeshInput)[]): number {
  const buffers = new Set<ArrayBufferLike>();
  for (const mesh of meshes) {
    for (const part of Object.values(mesh)) if (ArrayBuffer.isView(part)) buffers.add(part.buffer);
  }
  let bytes = 0;
  for (const buffer of buffers) bytes += buffer.byteLength;
  return bytes;
}
