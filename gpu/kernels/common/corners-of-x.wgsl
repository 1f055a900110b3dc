// For kernels that bind x, the current state, as array<f32>.
fn pointOfX(v: u32) -> vec3f {
  return vec3f(x[3u * v], x[3u * v + 1u], x[3u * v + 2u]);
}

fn cornersOfX(ids: vec4i) -> Corners {
  let p0 = pointOfX(u32(ids.x));
  var p = Corners(p0, pointOfX(u32(ids.y)), p0, p0);
  if (ids.z >= 0) {
    p.p2 = pointOfX(u32(ids.z));
  }
  if (ids.w >= 0) {
    p.p3 = pointOfX(u32(ids.w));
  }
  return p;
}
