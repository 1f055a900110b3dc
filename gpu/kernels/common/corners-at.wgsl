// For kernels that have pointOfX.
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
