// For kernels that bind motion read-only as array<MotionView>: the same words without atomics.
fn moves(v: i32) -> bool {
  return v >= 0 && (motion[max(v, 0)].flags & MOVING) != 0u;
}

fn anyMoves(ids: vec4i) -> bool {
  return moves(ids.x) || moves(ids.y) || moves(ids.z) || moves(ids.w);
}
