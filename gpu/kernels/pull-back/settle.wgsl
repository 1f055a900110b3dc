// After the commit of a step of the pull-back, one thread a vertex: what wanted to move in its last piece counts as unfinished
// for the re-search rule (control/mark-relevant.wgsl), what its trust box held is marked, what came no nearer from far away
// (IS_KEPT), and whether a vertex that its leap limits has come nearer by a good part of the leap.
//
// In: vertexStep, pairVertex, x, goal. In and out: pull, control. Out: progress; shortfalls, 0. Mirrors PullBackStep.forward
// (src/solver/cpu/pull-back-step.ts), Paces.findKept (paces.ts) and ProgressWatch.#markRelevant (progress-watch.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/lengths.wgsl"
// #include "common/append.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> vertexStep: array<VertexStepView>;
@group(0) @binding(3) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(4) var<storage, read_write> progress: array<VertexProgress>;
@group(0) @binding(5) var<storage, read_write> pull: array<VertexPull>;
@group(0) @binding(6) var<storage, read> x: array<f32>;
@group(0) @binding(7) var<storage, read> goal: array<f32>;
@group(0) @binding(8) var<uniform> pullBack: PullBack;
@group(0) @binding(9) var<storage, read_write> shortfalls: array<f32>;
// #include "pull-back/cost.wgsl"
// #include "control/mark-relevant.wgsl"

// Whether the vertex wanted to move in the step, whether its trust box has held it, and whether the last piece has granted it
// hardly anything. What has reached y before the last piece wanted to move as well: its y need not be its target.
fn settleVertex(i: u32) -> vec3<bool> {
  let isMoving = (vertexStep[i].flags & MOVING) != 0u;
  let guardAlpha = vertexStep[i].guard;
  let alpha = bitcast<f32>(vertexStep[i].alpha);
  let isHeld = isMoving && guardAlpha < 1.0 && alpha >= guardAlpha;
  progress[i].residual = select(0.0, 1.0, isMoving);
  if (isMoving) {
    markRelevant(i, vertexStep[i].limiter);
  }
  // Where edges are shortened others move, which says nothing of what wanted to move or was held when the phase towards the
  // targets ended.
  let didWant = (pull[i].lastPull & WANTS) != 0u;
  let isPull = pullBack.phase == PHASE_PULL && pullBack.tau > 0.0;
  let isTowards = isPull && pullBack.restsKept == 0u;
  var rest = vec3f(0.0);
  for (var c = 0u; c < axes(); c++) {
    rest[c] = goal[3u * i + c] - x[3u * i + c];
  }
  let farAway = pull[i].farAway;
  let left = lengthOf(rest);
  let mayBeKept = isTowards && (pull[i].lastPull & IS_KEPT) != 0u;
  let isKept = mayBeKept && abs(farAway) - left < LEAP_PROGRESS * pullBack.longest;
  let state = select(0u, DID_WANT, didWant) | select(0u, WAS_HELD, isHeld) | select(0u, IS_KEPT, isKept);
  pull[i].lastPull = select(pull[i].lastPull, state, isTowards);
  if (isKept) {
    atomicStore(&control.hasKept, 1u);
  }
  if (isPull && didWant && pull[i].unpushed == FREE_STEPS) {
    atomicStore(&control.hasFree, 1u);
  }
  // For findShortfalls.
  shortfalls[i] = 0.0;
  if (farAway > 0.0 && farAway - left >= costOfStep() * LEAP_PROGRESS * pullBack.longest) {
    atomicStore(&control.isLeaping, 1u);
  }
  return vec3<bool>(didWant, isHeld, isMoving && alpha < JAMMED_ALPHA);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn settleStep(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  var counts = vec3<bool>(false);
  if (i < parameters.vertexCount) {
    counts = settleVertex(i);
  }
  // Every thread comes here (common/append.wgsl).
  countUp(&control.movingCount, counts.x);
  countUp(&control.heldCount, counts.y);
  countUp(&control.jammedCount, counts.z);
}
