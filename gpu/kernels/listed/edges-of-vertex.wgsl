// edgesAt: where the edges of each vertex begin, V + 1 words; then the edges. For kernels that bind it.

// Lists the edges of a vertex from this one on.
fn enlistAt(v: u32, first: u32) {
  for (var n = edgesAt[v]; n < edgesAt[v + 1u]; n++) {
    let e = edgesAt[parameters.vertexCount + 1u + n];
    if (e >= first) {
      enlist(e);
    }
  }
}
