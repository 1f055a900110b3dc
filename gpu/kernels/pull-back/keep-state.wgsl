// What is kept of the best state, for kernels that bind x, best and shortfalls: best ← x, a bit copy, and the shortfall of the
// vertex.
fn keepState(i: u32) {
  for (var k = 3u * i; k < 3u * i + axes(); k++) {
    best[k] = x[k];
  }
  shortfalls[parameters.vertexCount + i] = shortfalls[i];
}
