/** A flat sheet of nx × ny squares in the plane z = 0, diagonals to and fro, edges of length `size`, centred. */
export function flatSheet(nx: number, ny: number, size = 1) {
  const vertexCount = (nx + 1) * (ny + 1);
  const rest = new Float32Array(3 * vertexCount);
  const triangles: number[] = [];
  for (let j = 0; j <= ny; j++) {
    for (let i = 0; i <= nx; i++) {
      const v = j * (nx + 1) + i;
      rest[3 * v] = size * (i - nx / 2);
      rest[3 * v + 1] = size * (j - ny / 2);
      if (i === nx || j === ny) continue;
      const [a, b, c, d] = [v, v + 1, v + nx + 1, v + nx + 2];
      triangles.push(...((i + j) % 2 === 1 ? [a, b, d, a, d, c] : [a, b, c, b, d, c]));
    }
  }
  return { vertexCount, rest, triangles: Uint32Array.from(triangles) };
}

/** Each coordinate times its factor. */
export function scaled(x: Float32Array, factors: readonly [number, number, number]): Float32Array {
  return x.map((value, k) => value * factors[k % 3]!);
}

/** Cubes of six tetrahedra each, n along every axis, unit edges. */
export function tetrahedralBlock(n: number) {
  const side = n + 1;
  const vertexCount = side ** 3;
  const rest = new Float32Array(3 * vertexCount);
  const tetrahedra: number[] = [];
  const at = (i: number, j: number, k: number) => (k * side + j) * side + i;
  // The six paths along the axes from one corner of a cube to the opposite one.
  const paths = [
    [0, 1, 2],
    [1, 2, 0],
    [2, 0, 1],
    [0, 2, 1],
    [2, 1, 0],
    [1, 0, 2],
  ];
  for (let k = 0; k < side; k++) {
    for (let j = 0; j < side; j++) {
      for (let i = 0; i < side; i++) {
        rest.set([i - n / 2, j - n / 2, k - n / 2], 3 * at(i, j, k));
        if (i === n || j === n || k === n) continue;
        for (const path of paths) {
          const corner = [i, j, k];
          tetrahedra.push(at(i, j, k));
          for (const axis of path) {
            corner[axis]!++;
            tetrahedra.push(at(corner[0]!, corner[1]!, corner[2]!));
          }
        }
      }
    }
  }
  return { vertexCount, rest, tetrahedra: Uint32Array.from(tetrahedra) };
}
