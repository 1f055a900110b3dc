// The end of a step of Algorithm 1, one thread a vertex: forward/commit.wgsl and control/watch-progress.wgsl. That a
// vertex matters for the decision to search may be found by a thread of another vertex. The first thread that marks
// such a vertex counts it. That thread computes the α that the commit of the vertex yields, whether the commit has run
// or not: no commit changes what α depends on.
//
// joined/slide-and-guard.wgsl has cleared the counters of stopped steps that are void. In and out: what both kernels read and
// write. Mirrors Forward.#commit, Residuals.update, ProgressWatch.wantsSearch and judge (src/solver/cpu/forward.ts, motion.ts,
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
@group(0) @binding(9) var<storage, read_write> windowStart: array<f32>;
@group(0) @binding(10) var<storage, read_write> wanted: array<u32>;
@group(0) @binding(11) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(12) var<storage, read> goal: array<f32>;
// #include "forward/commit-vertex.wgsl"
// #include "control/watch-vertex.wgsl"

fn stepOf(i: u32) -> StepOfVertex {
  let flags = atomicLoad(&vertexStep[i].flags);
  let alpha = atomicLoad(&vertexStep[i].alpha);
  let isBack = (flags & MOVING) != 0u && alpha != 0u && (isReverted(flags) || leavesBox(i, writtenOf(i)));
  let limiter = atomicLoad(&vertexStep[i].limiter);
  return StepOfVertex(flags, limiter, vertexStep[i].guard, bitcast<f32>(select(alpha, 0u, isBack)));
}

fn writtenOf(i: u32) -> vec3f {
  var at = vec3f(0.0);
  for (var c = 0u; c < axes(); c++) {
    at[c] = bitcast<f32>(next[3u * i + c]);
  }
  return at;
}

// Vertices that matter for the decision to search, that their boxes stop, and that they have stopped for long.
fn countRelevant(i: u32) -> vec3u {
  if (atomicExchange(&progress[i].relevant, control.clock) == control.clock) {
    return vec3u(0u);
  }
  let counts = watchRelevant(i, stepOf(i), progress[i].stopped);
  return vec3u(1u, select(0u, 1u, (counts & STOPPED) != 0u), select(0u, 1u, (counts & STARVED) != 0u));
}

// An unfinished vertex, and every vertex of the pair that bounds it (control/mark-relevant.wgsl).
fn countAround(i: u32) -> vec3u {
  var counts = countRelevant(i);
  let limiter = atomicLoad(&vertexStep[i].limiter);
  if (limiter != NO_PAIR) {
    let ids = pairVertex[limiter];
    for (var s = 0u; s < 4u; s++) {
      if (ids[s] >= 0) {
        counts += countRelevant(u32(ids[s]));
      }
    }
  }
  return counts;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn commitAndWatch(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  var committed = Committed(false, 0.0, 0u, false);
  var counts = 0u;
  var relevant = vec3u(0u);
  if (i < parameters.vertexCount) {
    committed = commitVertex(i);
    counts = watchVertex(i, stepOf(i));
    if (committed.r >= parameters.epsilon) {
      relevant = countAround(i);
    }
  }
  // Every thread comes here (common/append.wgsl).
  let isOpen = committed.wasOpen;
  raise(&control.residualBits, bitcast<u32>(committed.r) & 0x7fffffffu, isOpen);
  countUp(&control.unfinishedCount, isOpen && committed.r >= parameters.epsilon);
  raise(&control.largestMoveBits, committed.motionBits, committed.motionBits != 0u);
  countUp(&control.lateCount, (counts & LATE) != 0u);
  countUp(&control.shortCount, (counts & SHORT) != 0u);
  countUp(&control.wantedCount, (counts & WANTED) != 0u);
  addUp(&control.relevantCount, relevant.x);
  addUp(&control.stoppedCount, relevant.y);
  addUp(&control.starvedCount, relevant.z);
}
