// Trust boxes and mask bits of the vertices (docs/method.md, trust boxes; mirrors fillTrustBoxes in
// src/solver/cpu/boxes.ts and Proximity.#mark in src/solver/cpu/proximity.ts).
//
// B_i = box(x_i, x_i + (y_i - x_i) min(1, leap / |y_i - x_i|)) grown by the reach; the bare point for a kinematic vertex
// that stays, and for all under guard RADIUS. KEPT vertices (not wanted in a partial search) keep the box they have.
// x_i lies inside under any rounding: min(x, e) - reach <= x.
//
// In: control, x, y (four words a vertex), inverse masses (0 = kinematic), wanted. Out: box, mask, vertices; extent, which
// holds no box before, of the boxes of all vertices that do not rest: kinematic ones at their targets may lie so far away that
// all others would lie in one cell. One thread a vertex.
// #include "common/dispatch.wgsl"
// #include "search/extent.wgsl"
// #include "common/leap-end.wgsl"

@group(0) @binding(0) var<uniform> control: SearchControl;
// f32[3V]
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<vec4f>;
// f32[V]
@group(0) @binding(3) var<storage, read> inverseMass: array<f32>;
// u32[V] 1 = needs a new box; read in a partial search only
@group(0) @binding(4) var<storage, read> wanted: array<u32>;
// f32[6V] lo xyz, hi xyz
@group(0) @binding(5) var<storage, read_write> box: array<f32>;
// u32[V]
@group(0) @binding(6) var<storage, read_write> mask: array<u32>;
// three vec4f a vertex, for search/walk-pairs.wgsl: x, the box's lo and hi, each in one read
@group(0) @binding(7) var<storage, read_write> vertices: array<vec4f>;
// of the boxes of vertices that do not rest (search/extent.wgsl)
@group(0) @binding(8) var<storage, read_write> extent: array<atomic<u32>, 6>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn fillTrustBoxes(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let i = WORKGROUP_SIZE * foldedGroup(workgroup, dispatched) + thread;
  if (i >= control.vertices) {
    return;
  }
  // 3, in a form that the compiler does not know (axes in common/parameters.wgsl).
  let axes = 3u * min(control.vertices, 1u);
  var at = vec3f(0.0);
  let to = y[i].xyz;
  for (var c = 0u; c < axes; c++) {
    at[c] = x[3u * i + c];
  }
  let isStill = at.x == to.x && at.y == to.y && at.z == to.z;
  let isKinematic = inverseMass[i] == 0.0;
  let isKept = control.mode == SEARCH_PART && wanted[i] == 0u;
  vertices[3u * i] = vec4f(at, 0.0);
  var lo = at;
  var hi = at;
  if (isKept) {
    for (var c = 0u; c < axes; c++) {
      lo[c] = box[6u * i + c];
      hi[c] = box[6u * i + c + 3u];
    }
  } else {
    if (control.isPoint == 0u && !(isStill && isKinematic)) {
      let end = leapEnd(at, to, control.leap);
      lo = min(at, end) - control.reach;
      hi = max(at, end) + control.reach;
    }
    for (var c = 0u; c < axes; c++) {
      box[6u * i + c] = lo[c];
      box[6u * i + c + 3u] = hi[c];
    }
  }
  // In a larger box that it keeps, a vertex may move later without another search.
  let rests = isStill && all(lo == hi);
  let isPassive = isKinematic && (rests || control.skipsKinematic != 0u);
  mask[i] = select(0u, PASSIVE, isPassive) | select(0u, KEPT, isKept);
  vertices[3u * i + 1u] = vec4f(lo, 0.0);
  vertices[3u * i + 2u] = vec4f(hi, 0.0);
  let sides = select(2u * axes, 0u, isStill && isKinematic);
  for (var side = 0u; side < sides; side++) {
    let isLow = side < 3u;
    let key = keyOf(select(hi[side % 3u], lo[side % 3u], isLow));
    widen(side, select(~key, key, isLow));
  }
}

// Most boxes widen nothing, and a load costs less than an atomic minimum.
fn widen(side: u32, key: u32) {
  if (key < atomicLoad(&extent[side])) {
    atomicMin(&extent[side], key);
  }
}
