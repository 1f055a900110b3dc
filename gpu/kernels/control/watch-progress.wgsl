// Counts what decide.wgsl decides by, one thread a vertex: vertices that their trust boxes stop and for how long, that need a new
// box, that are stuck at a pair; at the end of a window of steps, whether an unfinished vertex has travelled since its
// beginning, and Σr; kinematic vertices that have used up their motion and are not on their targets.
//
// In: x, goal, inverseMass, vertexStep, progress.residual and .relevant. In and out: windowStart, progress.stopped and .stuck, control. Out: wanted.
// Mirrors ProgressWatch.wantsSearch and judge, Slide.observe (src/solver/cpu/progress-watch.ts, slide.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/lengths.wgsl"
// #include "common/append.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> windowStart: array<f32>;
@group(0) @binding(4) var<storage, read> vertexStep: array<VertexStepView>;
@group(0) @binding(5) var<storage, read_write> progress: array<VertexProgress>;
@group(0) @binding(6) var<storage, read_write> wanted: array<u32>;
@group(0) @binding(7) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(8) var<storage, read> goal: array<f32>;

// Parts of 1 in which r is summed: a sum of whole numbers does not depend on its order.
const RESIDUAL_PARTS: f32 = 65536.0;

// What a vertex counts as: a bit each.
const LATE: u32 = 1u;
const SHORT: u32 = 2u;
const WANTED: u32 = 4u;
const RELEVANT: u32 = 8u;
const STOPPED: u32 = 16u;
const STARVED: u32 = 32u;

fn watchVertex(i: u32) -> u32 {
  var counts = 0u;
  let isMoving = (vertexStep[i].flags & MOVING) != 0u;
  let isUnfinished = progress[i].residual >= parameters.epsilon;
  if (isUnfinished && inverseMass[i] == 0.0) {
    counts |= LATE;
  }
  if (!isUnfinished && inverseMass[i] == 0.0) {
    var isShort = false;
    for (var k = 3u * i; k < 3u * i + axes(); k++) {
      isShort = isShort || x[k] != goal[k];
    }
    if (isShort) {
      counts |= SHORT;
    }
  }
  let guardAlpha = vertexStep[i].guard;
  let alpha = bitcast<f32>(vertexStep[i].alpha);
  // A vertex whose motion leaves its box needs a new one; the other unfinished vertices are likely to need one next.
  let isWanted = isMoving && (isUnfinished || guardAlpha < 1.0);
  wanted[i] = select(0u, 1u, isWanted);
  if (isWanted) {
    counts |= WANTED;
  }
  var stopped = select(progress[i].stopped, 0u, control.clearsStopped == 1u);
  if (atomicLoad(&progress[i].relevant) == control.clock) {
    counts |= RELEVANT;
    if (isMoving && guardAlpha < 1.0 && (guardAlpha == 0.0 || alpha >= GUARD_SHARE * guardAlpha)) {
      stopped++;
      counts |= STOPPED;
      if (stopped >= STOPPED_STEPS) {
        counts |= STARVED;
      }
    } else {
      stopped = 0u;
    }
  }
  progress[i].stopped = stopped;
  var stuck = 0u;
  if (isMoving && isUnfinished && vertexStep[i].limiter != NO_PAIR && alpha < STUCK_SHARE) {
    stuck = min(STUCK_STEPS, progress[i].stuck + 1u);
  }
  progress[i].stuck = stuck;
  if (control.windowSteps + 1u >= WINDOW) {
    let k = 3u * i;
    var motion = vec3f(0.0);
    for (var c = 0u; c < axes(); c++) {
      let now = x[k + c];
      motion[c] = now - windowStart[k + c];
      windowStart[k + c] = now;
    }
    if (isUnfinished) {
      if (lengthOf(motion) > TRAVEL * parameters.delta) {
        atomicStore(&control.hasMoved, 1u);
      }
      let part = u32(progress[i].residual * RESIDUAL_PARTS);
      let before = atomicAdd(&control.residualSum, part);
      if (before + part < before) {
        atomicAdd(&control.residualSumHigh, 1u);
      }
    }
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
    counts = watchVertex(i);
  }
  // Every thread comes here (common/append.wgsl).
  countUp(&control.lateCount, (counts & LATE) != 0u);
  countUp(&control.shortCount, (counts & SHORT) != 0u);
  countUp(&control.wantedCount, (counts & WANTED) != 0u);
  countUp(&control.relevantCount, (counts & RELEVANT) != 0u);
  countUp(&control.stoppedCount, (counts & STOPPED) != 0u);
  countUp(&control.starvedCount, (counts & STARVED) != 0u);
}
