import type { GLTF } from '@gltf-transform/core';
import { IntersticeError } from '../../contract/errors.js';

/** Extensions that add geometry or change positions; a file that uses one would be read incorrectly. */
const GEOMETRY_EXTENSIONS = new Set([
  'EXT_mesh_gpu_instancing',
  'KHR_draco_mesh_compression',
  'EXT_meshopt_compression',
]);

/**
 * Refuses a file whose positions would need an extension.
 *
 * @returns the other extensions that it uses, none of which is kept
 * @throws IntersticeError UNIMPLEMENTED
 */
export function assertSupported({ extensionsRequired = [], extensionsUsed = [] }: GLTF.IGLTF): readonly string[] {
  const [refused] = [...extensionsRequired, ...extensionsUsed.filter((name) => GEOMETRY_EXTENSIONS.has(name))];
  if (refused === undefined) return extensionsUsed;
  throw new IntersticeError('UNIMPLEMENTED', `The file needs the glTF extension ${refused}, which is not read.`, {
    hint: 'Export it without compression, quantization and instancing.',
  });
}
