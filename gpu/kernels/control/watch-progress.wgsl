// Counts what decide.wgsl decides by, one thread a vertex: vertices that their trust boxes stop and for how long, that need a new
// box, that are stuck at a pair; at the end of a window of steps, whether an unfinished vertex has travelled since its
// beginning, and Σr; kinematic vertices that have used up their motion and are not on their targets.
//
// In: x, goal, inverseMass, vertexStep, progress.residual and .relevant. In and out: windowStart, progress.stopped and .stuck,
// control. Out: wanted. Mirrors ProgressWatch.wantsSearch and judge, Slide.observe (src/solver/cpu/progress-watch.ts,
// slide.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/lengths.wgsl"
// #include "common/append.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> x: array<u32>;
@group(0) @binding(3) var<storage, read_write> windowStart: array<f32>;
@group(0) @binding(4) var<storage, read> vertexStep: array<VertexStepView>;
@group(0) @binding(5) var<storage, read_write> progress: array<VertexProgress>;
@group(0) @binding(6) var<storage, read_write> wanted: array<u32>;
@group(0) @binding(7) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(8) var<storage, read> goal: array<f32>;
// #include "control/watch-vertex.wgsl"

fn watchAll(i: u32) -> u32 {
  let step = vertexStep[i];
  let own = StepOfVertex(step.flags, step.limiter, step.guard, bitcast<f32>(step.alpha));
  let before = select(progress[i].stopped, 0u, control.clearsStopped == 1u);
  var counts = watchVertex(i, own);
  if (atomicLoad(&progress[i].relevant) == control.clock) {
    counts |= watchRelevant(i, own, before);
  } else {
    progress[i].stopped = before;
  }
  return counts;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn watch(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  var counts = 0u;
  if (i < parameters.vertexCount) {
    counts = watchAll(i);
  }
  // Every thread comes here (common/append.wgsl).
  countUp(&control.lateCount, (counts & LATE) != 0u);
  countUp(&control.shortCount, (counts & SHORT) != 0u);
  countUp(&control.wantedCount, (counts & WANTED) != 0u);
  countUp(&control.relevantCount, (counts & RELEVANT) != 0u);
  countUp(&control.stoppedCount, (counts & STOPPED) != 0u);
  countUp(&control.starvedCount, (counts & STARVED) != 0u);
}
