/**
 * Heights of the second of two sheets with equally many vertices over the first one, along z: of each vertex that lies over
 * one of its triangles.
 *
 * @param positions [3·V]
 * @param triangles of both, uint32[3·T]
 */
export function heightsOver(positions: ArrayLike<number>, triangles: ArrayLike<number>): number[] {
  const count = positions.length / 6;
  const heights: number[] = [];
  const at = (v: number, c: number) => positions[3 * v + c]!;
  for (let v = count; v < 2 * count; v++) {
    for (let k = 0; k < triangles.length; k += 3) {
      const [a, b, c] = [triangles[k]!, triangles[k + 1]!, triangles[k + 2]!];
      if (a >= count) continue;
      const between = (from: number, to: number) =>
        [0, 1].map((axis) => at(to, axis) - at(from, axis)) as [number, number];
      const [[bx, by], [cx, cy], [px, py]] = [between(a, b), between(a, c), between(a, v)];
      const area = bx * cy - by * cx;
      const [s, t] = [(px * cy - py * cx) / area, (bx * py - by * px) / area];
      if (!(s >= 0 && t >= 0 && s + t <= 1)) continue;
      heights.push(at(v, 2) - at(a, 2) - s * (at(b, 2) - at(a, 2)) - t * (at(c, 2) - at(a, 2)));
    }
  }
  return heights;
}
