// For kernels that bind ways: two vec4f a vertex, so that what a pair needs of one is read at once. Written by
// prepare.wgsl (the first) and guard.wgsl (both):
//
//   x, 1 = moves
//   y − x, α of the guard
fn moves(v: i32) -> bool {
  return v >= 0 && ways[2u * u32(max(v, 0))].w != 0.0;
}

fn anyMoves(ids: vec4i) -> bool {
  return moves(ids.x) || moves(ids.y) || moves(ids.z) || moves(ids.w);
}

fn pointOfX(v: u32) -> vec3f {
  return ways[2u * v].xyz;
}
