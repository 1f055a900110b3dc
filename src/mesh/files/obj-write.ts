import { encodeText } from './chunks.js';
import { printFloat64 } from './numbers.js';
import type { MeshFile } from './types.js';

/** Numbers are doubles whatever the precision of the mesh: every float32 is one, exactly. */
export function printObj(file: MeshFile): Iterable<Uint8Array> {
  return encodeText(listStatements(file));
}

function* listStatements(file: MeshFile): Generator<string> {
  const { positions, faceSizes, faceVertices, segments, particles } = file;
  for (let i = 0; i < positions.length; i += 3) {
    const [x, y, z] = [positions[i]!, positions[i + 1]!, positions[i + 2]!];
    yield `v ${printFloat64(x)} ${printFloat64(y)} ${printFloat64(z)}\n`;
  }
  let corner = 0;
  for (let face = 0; face < faceSizes.length; face++) {
    const end = corner + faceSizes[face]!;
    let statement = 'f';
    for (; corner < end; corner++) statement += ` ${faceVertices[corner]! + 1}`;
    yield `${statement}\n`;
  }
  for (let i = 0; i < segments.length; i += 2) yield `l ${segments[i]! + 1} ${segments[i + 1]! + 1}\n`;
  for (let i = 0; i < particles.length; i++) yield `p ${particles[i]! + 1}\n`;
}
