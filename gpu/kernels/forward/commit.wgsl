// Commits the step, one thread a vertex: x ← x' unless the check, or the exact test against the trust box, returns the vertex
// to x (docs/method.md, S4 and S8); then r ← r (1 − α) (Eq. 17), 0 where y is reached up to rounding. In Algorithm 1 the
// vertices are marked that matter for the decision to search (control/mark-relevant.wgsl); the pull-back has an r of its own
// (pull-back/settle.wgsl).
//
// In: y, next, box, pairVertex. In and out: x, vertexStep, progress, control (largest r, number of unfinished vertices, longest
// motion, in the pull-back the number of vertices that have not reached y).
// Mirrors Forward.#commit, Residuals.update and ProgressWatch.#markRelevant (src/solver/cpu/forward.ts, motion.ts,
// progress-watch.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/lengths.wgsl"
// #include "common/append.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
// Words, not floats: copies must be bit copies.
@group(0) @binding(2) var<storage, read_write> x: array<u32>;
@group(0) @binding(3) var<storage, read> y: array<vec4f>;
@group(0) @binding(4) var<storage, read> next: array<u32>;
@group(0) @binding(5) var<storage, read> box: array<f32>;
@group(0) @binding(6) var<storage, read_write> vertexStep: array<VertexStep>;
@group(0) @binding(7) var<storage, read_write> progress: array<VertexProgress>;
@group(0) @binding(8) var<storage, read> pairVertex: array<vec4i>;
// #include "forward/commit-vertex.wgsl"
// #include "control/mark-relevant.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn commit(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  var committed = Committed(false, 0.0, 0u, false);
  if (i < parameters.vertexCount) {
    committed = commitVertex(i);
    if (committed.r >= parameters.epsilon && parameters.isAiming == 0u) {
      markRelevant(i, atomicLoad(&vertexStep[i].limiter));
    }
  }
  // Every thread comes here (common/append.wgsl).
  let isOpen = committed.wasOpen;
  raise(&control.residualBits, bitcast<u32>(committed.r) & 0x7fffffffu, isOpen);
  countUp(&control.unfinishedCount, isOpen && committed.r >= parameters.epsilon);
  raise(&control.largestMoveBits, committed.motionBits, committed.motionBits != 0u);
  // For the next piece (pull-back/pieces.wgsl).
  countUp(&control.leftCount, committed.isLeft && parameters.isAiming == 1u);
}
