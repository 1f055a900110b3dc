// Jacobian of a contact; mirrors Contacts.#addRow and addVolumeTerm (src/solver/cpu/contacts.ts, contact-volume.ts).
//
//   GAP     J_k = s_k w_k n
//   VOLUME  J_k = s_k w_k n + d ∇_k log S     S: area or length of the closest features
//
// s_k = +1 on side a, −1 on side b. Rows sum to 0 over the vertices. It is computed where it is needed, from what lies in
// memory anyway, instead of being stored.
struct Jacobian {
  j: array<vec3f, 4>,
}

// Below this sine of their angle two edges turn instead of parting when their volume is enforced: gap form then.
const MIN_SINE: f32 = 0.15;
// A triangle with less than this share of its longest edge squared as twice its area has no usable area: gap form.
const MIN_AREA_SHARE: f32 = 1e-6;

fn jacobianOf(kind: u32, p: Corners, weight: vec4f, distance: f32, n: vec3f) -> Jacobian {
  var row: Jacobian;
  let sideA = sideAOf(kind);
  for (var s = 0u; s < 4u; s++) {
    row.j[s] = select(-weight[s], weight[s], s < sideA) * n;
  }
  if (parameters.isVolume == 1u) {
    addVolumeTerm(&row, kind, p, weight, distance);
  }
  return row;
}

fn addVolumeTerm(row: ptr<function, Jacobian>, kind: u32, p: Corners, weight: vec4f, distance: f32) {
  var q = array<vec3f, 4>(p.p0, p.p1, p.p2, p.p3);
  var used = array<u32, 4>(0u, 0u, 0u, 0u);
  var count = 0u;
  for (var s = 0u; s < 4u; s++) {
    if (weight[s] > 0.0) {
      used[count] = s;
      count++;
    }
  }
  if (count == 3u) {
    // One vertex against an edge interior, wherever the pair came from: the two slots on the same side are the edge.
    var s = used[1];
    var t = used[2];
    if (kind == EE && used[1] == 1u) {
      s = 0u;
      t = 1u;
    }
    let u = q[t] - q[s];
    let uu = dot3(u, u);
    if (uu > CLOSEST_TINY) {
      let g = (distance / uu) * u;
      (*row).j[t] += g;
      (*row).j[s] -= g;
    }
    return;
  }
  if (count != 4u) {
    return;
  }
  let isFace = kind == VT;
  let u = select(q[1] - q[0], q[2] - q[1], isFace);
  let e = select(q[3] - q[2], q[3] - q[1], isFace);
  let n = cross3(u, e);
  let area = sqrt(dot3(n, n));
  let smallest = select(
    MIN_SINE * sqrt(dot3(u, u) * dot3(e, e)),
    MIN_AREA_SHARE * max(dot3(u, u), dot3(e, e)),
    isFace,
  );
  if (!(area > smallest && area * area > CLOSEST_TINY)) {
    return;
  }
  let unit = n / area;
  let second = (distance / area) * cross3(e, unit);
  let third = (distance / area) * cross3(unit, u);
  if (isFace) {
    (*row).j[2] += second;
    (*row).j[3] += third;
    (*row).j[1] -= second + third;
  } else {
    (*row).j[1] += second;
    (*row).j[0] -= second;
    (*row).j[3] += third;
    (*row).j[2] -= third;
  }
}
