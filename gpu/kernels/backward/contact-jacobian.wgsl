// Jacobian of a contact; mirrors fillRows and addVolumeTerm (src/solver/cpu/contact-rows.ts, contact-forms.ts).
//
//   GAP     J_k = s_k w_k n
//   VOLUME  J_k = s_k w_k n + d ∇_k log S     S: area or length of the closest features
//
// s_k = +1 on side a, −1 on side b. Rows sum to 0 over the vertices. Processors compute it where it is needed, from what lies in
// memory anyway; cards pack it in the first sweep of a step (backward/run-queue-ahead.wgsl).
//
// Written without arrays: compilers unroll a loop over one of known length, so that the code for a slot is in the machine
// code four times, and the compile time of a software driver grows with it (docs/method.md, cold start).
struct Jacobian {
  j0: vec3f,
  j1: vec3f,
  j2: vec3f,
  j3: vec3f,
}

fn rowOf(row: Jacobian, s: u32) -> vec3f {
  return select(select(row.j0, row.j1, s == 1u), select(row.j2, row.j3, s == 3u), s >= 2u);
}

fn cornerOf(p: Corners, s: u32) -> vec3f {
  return select(select(p.p0, p.p1, s == 1u), select(p.p2, p.p3, s == 3u), s >= 2u);
}

fn jacobianOf(kind: u32, p: Corners, weight: vec4f, distance: f32, n: vec3f) -> Jacobian {
  let row = Jacobian(weight.x * n, select(-weight.y, weight.y, kind == EE) * n, -weight.z * n, -weight.w * n);
  if (parameters.isVolume == 1u) {
    return withVolumeTerm(row, kind, p, weight, distance);
  }
  return row;
}

fn withVolumeTerm(row: Jacobian, kind: u32, p: Corners, weight: vec4f, distance: f32) -> Jacobian {
  let isUnused = weight <= vec4f(0.0);
  let unused = select(vec4u(0u), vec4u(1u), isUnused);
  let count = 4u - (unused.x + unused.y + unused.z + unused.w);
  if (count == 3u) {
    // One vertex against an edge interior, wherever the pair came from: the two slots on the same side are the edge.
    var s = select(1u, 2u, isUnused.x || isUnused.y);
    var t = select(3u, 2u, isUnused.w);
    if (kind == EE && s == 1u) {
      s = 0u;
      t = 1u;
    }
    let u = cornerOf(p, t) - cornerOf(p, s);
    let uu = dot3(u, u);
    if (!(uu > CLOSEST_TINY)) {
      return row;
    }
    let g = (distance / uu) * u;
    return Jacobian(
      withEnd(row.j0, g, s == 0u, false),
      withEnd(row.j1, g, s == 1u, t == 1u),
      withEnd(row.j2, g, s == 2u, t == 2u),
      withEnd(row.j3, g, false, t == 3u),
    );
  }
  if (count != 4u) {
    return row;
  }
  let isFace = kind == VT;
  let u = select(p.p1 - p.p0, p.p2 - p.p1, isFace);
  let e = select(p.p3 - p.p2, p.p3 - p.p1, isFace);
  let n = cross3(u, e);
  let area = sqrt(dot3(n, n));
  let smallest = select(
    MIN_SINE * sqrt(dot3(u, u) * dot3(e, e)),
    MIN_AREA_SHARE * max(dot3(u, u), dot3(e, e)),
    isFace,
  );
  if (!(area > smallest && area * area > CLOSEST_TINY)) {
    return row;
  }
  let unit = n / area;
  let second = (distance / area) * cross3(e, unit);
  let third = (distance / area) * cross3(unit, u);
  if (isFace) {
    return Jacobian(row.j0, row.j1 - (second + third), row.j2 + second, row.j3 + third);
  }
  return Jacobian(row.j0 - second, row.j1 + second, row.j2 - third, row.j3 + third);
}

// Of the edge's ends one loses g, the other gains it.
fn withEnd(j: vec3f, g: vec3f, isFirst: bool, isSecond: bool) -> vec3f {
  return select(select(j, j - g, isFirst), j + g, isSecond);
}
