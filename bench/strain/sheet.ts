/** A flat sheet of nx × ny unit squares, centred, with alternating diagonals. */
export function sheetOf(nx: number, ny: number) {
  const vertexCount = (nx + 1) * (ny + 1);
  const rest = new Float32Array(3 * vertexCount);
  const triangles: number[] = [];
  for (let v = 0; v < vertexCount; v++) {
    const [i, j] = [v % (nx + 1), Math.floor(v / (nx + 1))];
    rest.set([i - nx / 2, j - ny / 2, 0], 3 * v);
    if (i === nx || j === ny) continue;
    const [a, b, c, d] = [v, v + 1, v + nx + 1, v + nx + 2];
    triangles.push(...((i + j) % 2 === 1 ? [a, b, d, a, d, c] : [a, b, c, b, d, c]));
  }
  return { vertexCount, rest, triangles: Uint32Array.from(triangles) };
}
