// For kernels that bind x, the current state, as array<f32>.
fn pointOfX(v: u32) -> vec3f {
  return vec3f(x[3u * v], x[3u * v + 1u], x[3u * v + 2u]);
}

// Slot by slot, for kernels that do not run for every pair: one read in the machine code instead of four.
fn cornersOfX(kind: u32, ids: vec4i) -> Corners {
  let p0 = pointOfX(u32(ids.x));
  var p = Corners(p0, p0, p0, p0);
  for (var s = 1u; s < cornersOf(kind); s++) {
    p = withCorner(p, s, pointOfX(u32(ids[s])));
  }
  return p;
}
