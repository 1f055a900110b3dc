// Opens a request, one thread a vertex: r ← 1 (0 where start and target are equal), and whether P and its boxes serve the
// request: every vertex lies in its box, and every vertex that moves lies in a box that is more than a point, for P does not
// contain pairs of points that stood still (docs/method.md, S12). Guard RADIUS: the boxes are the points of the search, and the
// distance that the vertices have moved since counts.
//
// In: start, goal, box, inverseMass. Out: progress, control. Mirrors Residuals.begin and Proximity.isValidFor
// (src/solver/cpu/motion.ts, proximity.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/lengths.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> start: array<f32>;
// Words, not floats, as y: the copy must be a bit copy.
@group(0) @binding(3) var<storage, read> goal: array<u32>;
@group(0) @binding(4) var<storage, read> box: array<f32>;
@group(0) @binding(5) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(6) var<storage, read_write> progress: array<VertexProgress>;
@group(0) @binding(7) var<storage, read_write> y: array<vec4u>;

fn isInside(at: vec3f, lo: vec3f, hi: vec3f) -> bool {
  return all(at >= lo) && all(at <= hi);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn begin(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount) {
    return;
  }
  let k = 3u * i;
  let q = 6u * i;
  var here = vec3f(0.0);
  var lo = vec3f(0.0);
  var hi = vec3f(0.0);
  var isThere = true;
  for (var c = 0u; c < axes(); c++) {
    here[c] = start[k + c];
    let bits = goal[k + c];
    y[i][c] = bits;
    isThere = isThere && here[c] == bitcast<f32>(bits);
    lo[c] = box[q + c];
    hi[c] = box[q + c + 3u];
  }
  progress[i].residual = select(1.0, 0.0, isThere);
  progress[i].stopped = 0u;
  // The clock is never 0 in a step.
  atomicStore(&progress[i].relevant, 0u);
  progress[i].stuck = 0u;
  if (!isThere) {
    atomicAdd(&control.unfinishedCount, 1u);
    if (inverseMass[i] == 0.0) {
      atomicAdd(&control.lateCount, 1u);
    }
  }
  var isInvalid = false;
  if (parameters.hasBoxes == 1u) {
    isInvalid = !isInside(here, lo, hi) || (!isThere && lo.x == hi.x && lo.y == hi.y);
  } else {
    atomicMax(&control.largestMoveBits, bitcast<u32>(lengthOf(here - lo)) & 0x7fffffffu);
    // A kinematic vertex that moves now may have stood still at the search, which then excluded its pairs.
    isInvalid = !isThere && inverseMass[i] == 0.0 && parameters.skipsKinematicPairs == 0u;
  }
  if (isInvalid) {
    atomicAdd(&control.invalidCount, 1u);
  }
}
