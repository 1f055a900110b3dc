// What control/watch-progress.wgsl counts of one vertex, for kernels with the same bindings; x as words, as
// forward/commit.wgsl binds it.

// What a vertex counts as: a bit each.
const LATE: u32 = 1u;
const SHORT: u32 = 2u;
const WANTED: u32 = 4u;
const RELEVANT: u32 = 8u;
const STOPPED: u32 = 16u;
const STARVED: u32 = 32u;

// What the step has left of a vertex.
struct StepOfVertex {
  flags: u32,
  limiter: u32,
  guard: f32,
  alpha: f32,
}

// A vertex that matters for the decision to search counts, from this number of stopped steps before this one.
fn watchRelevant(i: u32, own: StepOfVertex, before: u32) -> u32 {
  let isMoving = (own.flags & MOVING) != 0u;
  let isStopped = isMoving && own.guard < 1.0 && (own.guard == 0.0 || own.alpha >= GUARD_SHARE * own.guard);
  let stopped = select(0u, before + 1u, isStopped);
  progress[i].stopped = stopped;
  return RELEVANT | select(0u, STOPPED, isStopped) | select(0u, STARVED, stopped >= STOPPED_STEPS);
}

// What a vertex counts as, whether it matters for that decision or not.
fn watchVertex(i: u32, own: StepOfVertex) -> u32 {
  var counts = 0u;
  let isMoving = (own.flags & MOVING) != 0u;
  let isUnfinished = progress[i].residual >= parameters.epsilon;
  if (isUnfinished && inverseMass[i] == 0.0) {
    counts |= LATE;
  }
  if (!isUnfinished && inverseMass[i] == 0.0) {
    var isShort = false;
    for (var k = 3u * i; k < 3u * i + axes(); k++) {
      isShort = isShort || bitcast<f32>(x[k]) != goal[k];
    }
    if (isShort) {
      counts |= SHORT;
    }
  }
  // A vertex whose motion leaves its box needs a new one; the other unfinished vertices are likely to need one next.
  let isWanted = isMoving && (isUnfinished || own.guard < 1.0);
  wanted[i] = select(0u, 1u, isWanted);
  if (isWanted) {
    counts |= WANTED;
  }
  var stuck = 0u;
  if (isMoving && isUnfinished && own.limiter != NO_PAIR && own.alpha < STUCK_SHARE) {
    stuck = min(STUCK_STEPS, progress[i].stuck + 1u);
  }
  progress[i].stuck = stuck;
  if (control.windowSteps + 1u >= WINDOW) {
    let k = 3u * i;
    var motion = vec3f(0.0);
    for (var c = 0u; c < axes(); c++) {
      let now = bitcast<f32>(x[k + c]);
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
