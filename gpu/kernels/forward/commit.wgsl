// Commits the step, one thread a vertex: x ← x' unless the check, or the exact test against the trust box, returns the vertex
// to x (docs/method.md, S4 and S8); then r ← r (1 − α) (Eq. 17), 0 where y is reached up to rounding.
//
// In: y, next, box. In and out: x, vertexStep, progress, control (largest r, number of unfinished vertices, longest motion).
// Mirrors Forward.#commit and Residuals.update (src/solver/cpu/forward.ts, motion.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/lengths.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
// Words, not floats: copies must be bit copies.
@group(0) @binding(2) var<storage, read_write> x: array<u32>;
@group(0) @binding(3) var<storage, read> y: array<f32>;
@group(0) @binding(4) var<storage, read> next: array<u32>;
@group(0) @binding(5) var<storage, read> box: array<f32>;
@group(0) @binding(6) var<storage, read_write> vertexStep: array<VertexStep>;
@group(0) @binding(7) var<storage, read_write> progress: array<VertexProgress>;

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

@compute @workgroup_size(WORKGROUP_SIZE)
fn commit(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount) {
    return;
  }
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
  if ((flags & MOVING) != 0u && atomicLoad(&vertexStep[i].alpha) != 0u) {
    if (isReverted(flags) || leavesBox(i, written)) {
      atomicStore(&vertexStep[i].alpha, 0u);
    } else {
      to = written;
      for (var c = 0u; c < axes(); c++) {
        x[k + c] = next[k + c];
      }
      if (parameters.hasBoxes == 0u) {
        atomicMax(&control.largestMoveBits, bitcast<u32>(lengthOf(to - here)) & 0x7fffffffu);
      }
    }
  }
  var r = progress[i].residual;
  if (r > 0.0) {
    let rest = abs(towards - to);
    let isThere = rest.x <= parameters.arrivedWithin && rest.y <= parameters.arrivedWithin &&
      rest.z <= parameters.arrivedWithin;
    r = select(r * (1.0 - bitcast<f32>(atomicLoad(&vertexStep[i].alpha))), 0.0, isThere);
    progress[i].residual = r;
    atomicMax(&control.residualBits, bitcast<u32>(r) & 0x7fffffffu);
    if (r >= parameters.epsilon) {
      atomicAdd(&control.unfinishedCount, 1u);
    }
  }
  atomicStore(&progress[i].relevant, 0u);
}
