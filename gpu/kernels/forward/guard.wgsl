// Opens the forward step, one thread a vertex: who moves, and α from what P does not see (Eq. 14): the trust box, or the
// radius in which P is complete.
//
//   BOXES   α = 1 iff y_i ∈ B_i by exact compare, else the share of y_i − x_i that stays inside, times 0.99999
//   RADIUS  |α D_i| ≤ γ (D − floor)/2
//
// A push may have thrown y out of the range of float32: such a vertex gets its goal back. y is guidance, this costs
// quality and no safety.
//
// In: x, goal, box. In and out: y. Out: motion, ways (common/motion.wgsl). Mirrors Forward.#guard, boxBound and restoreOverflow
// (src/solver/cpu/forward.ts, boxes.ts, two-way.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/lengths.wgsl"
@group(0) @binding(1) var<storage, read> control: ControlView;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<storage, read> goal: array<u32>;
@group(0) @binding(5) var<storage, read> box: array<f32>;
@group(0) @binding(6) var<storage, read_write> motion: array<Motion>;
@group(0) @binding(7) var<storage, read_write> ways: array<vec4f>;

// #include "common/motion.wgsl"

fn boxShare(here: f32, to: f32, lo: f32, hi: f32) -> f32 {
  if (to > hi) {
    return max(0.0, (hi - here) / (to - here) * FACE_SHARE);
  }
  if (to < lo) {
    return max(0.0, (lo - here) / (to - here) * FACE_SHARE);
  }
  return 1.0;
}

// By the exponent, because a compiler may assume that there is neither infinity nor NaN. Numbers beyond 2^120 count as
// out of range too: differences and heights of such would not stay finite.
fn isInRange(bits: u32) -> bool {
  return ((bits >> 23u) & 0xffu) < 247u;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn guard(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount) {
    return;
  }
  let k = 3u * i;
  var here = vec3f(0.0);
  var to = vec3f(0.0);
  var isNumber = true;
  for (var c = 0u; c < axes(); c++) {
    let bits = y[k + c];
    isNumber = isNumber && isInRange(bits);
    here[c] = x[k + c];
    to[c] = bitcast<f32>(bits);
  }
  if (!isNumber) {
    for (var c = 0u; c < axes(); c++) {
      y[k + c] = goal[k + c];
      to[c] = bitcast<f32>(goal[k + c]);
    }
  }
  let isMoving = here.x != to.x || here.y != to.y || here.z != to.z;
  var alpha = 1.0;
  if (isMoving) {
    if (parameters.hasBoxes == 1u) {
      let q = 6u * i;
      for (var c = 0u; c < axes(); c++) {
        alpha = min(alpha, boxShare(here[c], to[c], box[q + c], box[q + c + 3u]));
      }
    } else {
      // Undetected pairs are at least D apart: two vertices that move γ(D − floor)/2 each leave them floor apart.
      let cap = 0.5 * parameters.gamma * max(0.0, control.radius - parameters.floor);
      let travel = lengthOf(to - here);
      if (travel > cap) {
        alpha = cap / travel;
      }
    }
  }
  ways[2u * i] = vec4f(here, select(-IMMOVABLE_WAY, IMMOVABLE_WAY, isMoving));
  ways[2u * i + 1u] = vec4f(to - here, alpha);
  motion[i].guard = alpha;
  atomicStore(&motion[i].alpha, bitcast<u32>(alpha) & 0x7fffffffu);
  atomicStore(&motion[i].limiter, NO_PAIR);
  atomicStore(&motion[i].flags, select(0u, MOVING, isMoving));
}
