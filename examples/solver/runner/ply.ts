import type { Model } from '../src/model.js';
import { boundaryOf } from './picture.js';

/**
 * Encodes a state as binary PLY: vertices, triangles (including the surface of solids) and segments as edges.
 * @param x float64[3·V]
 */
export function encodePly({ vertexCount, mesh }: Model, x: Float64Array): Buffer {
  const triangles = Uint32Array.from([...mesh.triangles, ...boundaryOf(mesh.tetrahedra)]);
  const header = [
    'ply',
    'format binary_little_endian 1.0',
    `element vertex ${vertexCount}`,
    ...['x', 'y', 'z'].map((axis) => `property float ${axis}`),
    `element face ${triangles.length / 3}`,
    'property list uchar uint vertex_indices',
    `element edge ${mesh.segments.length / 2}`,
    'property uint vertex1',
    'property uint vertex2',
    'end_header\n',
  ].join('\n');
  const faces = Buffer.alloc((13 * triangles.length) / 3);
  for (let i = 0, at = 0; i < triangles.length; i += 3) {
    at = faces.writeUInt8(3, at);
    for (let k = 0; k < 3; k++) at = faces.writeUInt32LE(triangles[i + k]!, at);
  }
  const edges = Buffer.from(mesh.segments.slice().buffer);
  return Buffer.concat([Buffer.from(header), Buffer.from(Float32Array.from(x).buffer), faces, edges]);
}
