import type { Moving } from '../moving.js';

/**
 * Computes unit normals of vertices: sums of those of their triangles, weighted by area.
 *
 * @param moving the vertices whose normals are computed, with all triangles at them
 * @param positions float32[3·V]
 * @param normals float32[3·V] those of other vertices stay
 */
export function updateNormals(
  { vertices, isChanged, triangles }: Pick<Moving, 'vertices' | 'isChanged' | 'triangles'>,
  positions: Float32Array,
  normals: Float32Array,
): void {
  for (let n = 0; n < vertices.length; n++) {
    const v = 3 * vertices[n]!;
    normals[v] = normals[v + 1] = normals[v + 2] = 0;
  }
  for (let i = 0; i < triangles.length; i += 3) {
    const [first, second, third] = [triangles[i]!, triangles[i + 1]!, triangles[i + 2]!];
    const a = 3 * first;
    const b = 3 * second;
    const c = 3 * third;
    const ax = positions[a]!;
    const ay = positions[a + 1]!;
    const az = positions[a + 2]!;
    const ux = positions[b]! - ax;
    const uy = positions[b + 1]! - ay;
    const uz = positions[b + 2]! - az;
    const vx = positions[c]! - ax;
    const vy = positions[c + 1]! - ay;
    const vz = positions[c + 2]! - az;
    const nx = uy * vz - uz * vy;
    const ny = uz * vx - ux * vz;
    const nz = ux * vy - uy * vx;
    if (isChanged[first] === 1) {
      normals[a]! += nx;
      normals[a + 1]! += ny;
      normals[a + 2]! += nz;
    }
    if (isChanged[second] === 1) {
      normals[b]! += nx;
      normals[b + 1]! += ny;
      normals[b + 2]! += nz;
    }
    if (isChanged[third] === 1) {
      normals[c]! += nx;
      normals[c + 1]! += ny;
      normals[c + 2]! += nz;
    }
  }
  for (let n = 0; n < vertices.length; n++) {
    const i = 3 * vertices[n]!;
    const [x, y, z] = [normals[i]!, normals[i + 1]!, normals[i + 2]!];
    // With the tiny areas of a fine mesh in metres, the square of a sum may be below the smallest float32, so doubles.
    const scale = 1 / (Math.sqrt(x * x + y * y + z * z) || 1);
    normals[i] = x * scale;
    normals[i + 1] = y * scale;
    normals[i + 2] = z * scale;
  }
}
