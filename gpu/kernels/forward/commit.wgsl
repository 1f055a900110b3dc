// Commits the step, one thread a vertex: x ← x' unless the check, or the exact test against the trust box, returns the vertex
// to x (docs/method.md, S4 and S8); then r ← r (1 − α) (Eq. 17), 0 where y is reached up to rounding. In Algorithm 1 the vertices are marked that matter for the
// decision to search (control/mark-relevant.wgsl); the pull-back has an r of its own (pull-back/settle.wgsl).
//
// In: y, next, box, pairVertex. In and out: x, vertexStep, progress, control (largest r, number of unfinished vertices, longest motion).
// Mirrors Forward.#commit, Residuals.update and ProgressWatch.#markRelevant (src/solver/cpu/forward.ts, motion.ts, progress-watch.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/lengths.wgsl"
// #include "common/append.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
// Words, not floats: copies must be bit copies.
@group(0) @binding(2) var<storage, read_write> x: array<u32>;
@group(0) @binding(3) var<storage, read> y: array<f32>;
@group(0) @binding(4) var<storage, read> next: array<u32>;
@group(0) @binding(5) var<storage, read> box: array<f32>;
@group(0) @binding(6) var<storage, read_write> vertexStep: array<VertexStep>;
@group(0) @binding(7) var<storage, read_write> progress: array<VertexProgress>;
@group(0) @binding(8) var<storage, read> pairVertex: array<vec4i>;
// #include "control/mark-relevant.wgsl"

fn isInBox(i: u32, at: vec3f) -> bool {
  var isInside = true;
  for (var c = 0u; c < axes(); c++) {
    isInside = isInside && at[c] >= box[6u * i + c] && at[c] <= box[6u * i + c + 3u];
  }
  return isInside;
}

// The check found a half-space that the vertex would break.
fn isReverted(flags: u32) -> bool {
  return (flags & REVERTED) != 0u;
}

fn leavesBox(i: u32, at: vec3f) -> bool {
  return parameters.hasBoxes == 1u && !isInBox(i, at);
}

// What the vertex adds to the counters of the step.
struct Committed {
  // r was not 0 before the step
  wasOpen: bool,
  r: f32,
  // bits of the length of its motion, where it has no trust box; else 0
  motionBits: u32,
}

fn commitVertex(i: u32) -> Committed {
  let k = 3u * i;
  let flags = atomicLoad(&vertexStep[i].flags);
  var here = vec3f(0.0);
  var written = vec3f(0.0);
  var towards = vec3f(0.0);
  for (var c = 0u; c < axes(); c++) {
    here[c] = bitcast<f32>(x[k + c]);
    written[c] = bitcast<f32>(next[k + c]);
    towards[c] = y[k + c];
  }
  var to = here;
  var motionBits = 0u;
  if ((flags & MOVING) != 0u && atomicLoad(&vertexStep[i].alpha) != 0u) {
    if (isReverted(flags) || leavesBox(i, written)) {
      atomicStore(&vertexStep[i].alpha, 0u);
    } else {
      to = written;
      for (var c = 0u; c < axes(); c++) {
        x[k + c] = next[k + c];
      }
      if (parameters.hasBoxes == 0u) {
        motionBits = bitcast<u32>(lengthOf(to - here)) & 0x7fffffffu;
      }
    }
  }
  var r = progress[i].residual;
  let wasOpen = r > 0.0;
  if (wasOpen) {
    let rest = abs(towards - to);
    let isThere = rest.x <= parameters.arrivedWithin && rest.y <= parameters.arrivedWithin &&
      rest.z <= parameters.arrivedWithin;
    r = select(r * (1.0 - bitcast<f32>(atomicLoad(&vertexStep[i].alpha))), 0.0, isThere);
    progress[i].residual = r;
  }
  if (r >= parameters.epsilon && parameters.isAiming == 0u) {
    markRelevant(i, atomicLoad(&vertexStep[i].limiter));
  }
  return Committed(wasOpen, r, motionBits);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn commit(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  var committed = Committed(false, 0.0, 0u);
  if (i < parameters.vertexCount) {
    committed = commitVertex(i);
  }
  // Every thread comes here (common/append.wgsl).
  let isOpen = committed.wasOpen;
  raise(&control.residualBits, bitcast<u32>(committed.r) & 0x7fffffffu, isOpen);
  countUp(&control.unfinishedCount, isOpen && committed.r >= parameters.epsilon);
  raise(&control.largestMoveBits, committed.motionBits, committed.motionBits != 0u);
}
