// #include "common/corners.wgsl"
// #include "common/vertex-sorts.wgsl"
// For kernels that bind `motions`: two vec4f a vertex, so that everything that a pair needs of a vertex is read at once.
// backward/prepare.wgsl and forward/guard.wgsl write it:
//
//   x, and the sort of the vertex (common/vertex-sorts.wgsl), positive where it moves; guard.wgsl, after which only the sign
//   is read, writes the first sort for all
//   y − x and α of the guard; before the forward step: the position at the start of the request, and δ of the vertex
fn moves(v: i32) -> bool {
  return v >= 0 && motions[2u * u32(max(v, 0))].w > 0.0;
}

fn anyMoves(ids: vec4i) -> bool {
  return moves(ids.x) || moves(ids.y) || moves(ids.z) || moves(ids.w);
}

fn pointOfX(v: u32) -> vec3f {
  return motions[2u * v].xyz;
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
