// Opens a request, one thread a vertex: r ← 1 (0 where start and target are equal), and whether P and its boxes serve the
// request: every vertex lies in its box, and every vertex that moves lies in a box that is more than a point, for P does not
// contain pairs of points that stood still (docs/method.md, S12). Vertices whose boxes grant less than GRANTED_SHARE of their
// motion, as far as a leap goes, want new boxes before the first step. Guard RADIUS: the boxes are the points of the search,
// and the distance that the vertices have moved since counts.
//
// In: start, goal, box, inverseMass. Out: progress, y, wanted, control. Mirrors Residuals.begin, Proximity.isValidFor and markCut
// (src/solver/cpu/motion.ts, proximity.ts, boxes.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/lengths.wgsl"
// #include "common/box-share.wgsl"
// #include "common/leap-end.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> start: array<f32>;
// Words, not floats, as y: the copy must be a bit copy.
@group(0) @binding(3) var<storage, read> goal: array<u32>;
@group(0) @binding(4) var<storage, read> box: array<f32>;
@group(0) @binding(5) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(6) var<storage, read_write> progress: array<VertexProgress>;
@group(0) @binding(7) var<storage, read_write> y: array<vec4u>;
@group(0) @binding(8) var<storage, read_write> wanted: array<u32>;

fn isInside(at: vec3f, lo: vec3f, hi: vec3f) -> bool {
  return all(at >= lo) && all(at <= hi);
}

// Whether the box stops the vertex far from where it gets before the next search.
fn isCut(here: vec3f, to: vec3f, lo: vec3f, hi: vec3f) -> bool {
  let end = leapEnd(here, to, parameters.leap);
  var granted = 1.0;
  for (var c = 0u; c < axes(); c++) {
    granted = min(granted, boxShare(here[c], end[c], lo[c], hi[c]));
  }
  return granted < GRANTED_SHARE;
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
  var to = vec3f(0.0);
  var lo = vec3f(0.0);
  var hi = vec3f(0.0);
  var isThere = true;
  for (var c = 0u; c < axes(); c++) {
    here[c] = start[k + c];
    let bits = goal[k + c];
    y[i][c] = bits;
    to[c] = bitcast<f32>(bits);
    isThere = isThere && here[c] == to[c];
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
  let isWanted = parameters.hasBoxes == 1u && !isThere && isCut(here, to, lo, hi);
  wanted[i] = select(0u, 1u, isWanted);
  if (isWanted) {
    atomicAdd(&control.wantedCount, 1u);
  }
}
