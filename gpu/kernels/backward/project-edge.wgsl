// Projection of an edge length constraint (Eq. 13), for kernels with the bindings of backward/edges.wgsl.
struct EdgePush {
  // λ after the projection, and how much it has changed
  lambda: f32,
  change: f32,
  ends: vec2u,
  // their inverse masses
  w: vec2f,
}

// From this λ, of an edge with this row.
fn edgePushOf(e: u32, row: vec4f, old: f32) -> EdgePush {
  let ends = edgeEnds[e];
  // 2, in a form that the compiler does not know: it would unroll the loop.
  let sides = select(1u, 2u, ends.x != ends.y);
  var d = vec3f(0.0);
  var w = vec2f(0.0);
  for (var side = 0u; side < sides; side++) {
    let v = ends[side];
    let at = y[v].xyz;
    d = select(d - at, at, side == 0u);
    w[side] = inverseMass[v];
  }
  let c = row.w - (row.x * d.x + row.y * d.y + row.z * d.z);
  let lambda = max(0.0, old - c / (w.x + w.y));
  return EdgePush(lambda, lambda - old, ends, w);
}

// isFirst: λ counts as 0, as it does at the start of every backward step. Whether y has changed.
fn projectEdge(e: u32, isFirst: bool) -> bool {
  let row = edgeRow[e];
  if (row.w < 0.0) {
    return false;
  }
  var old = 0.0;
  if (!isFirst) {
    old = edgeLambda[e];
  }
  let push = edgePushOf(e, row, old);
  edgeLambda[e] = push.lambda;
  if (push.change == 0.0) {
    return false;
  }
  // J_i = −u, J_j = +u
  let sides = select(1u, 2u, push.ends.x != push.ends.y);
  for (var side = 0u; side < sides; side++) {
    let w = push.w[side];
    if (w > 0.0) {
      let share = select(w, -w, side == 0u) * push.change;
      let v = push.ends[side];
      y[v] = vec4f(y[v].xyz + share * row.xyz, 0.0);
    }
  }
  return true;
}
