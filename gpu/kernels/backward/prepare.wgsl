// Opens the contact part of a step, one thread a vertex: which vertices move (y ≠ x after the edge sweep), which are movable,
// which are stuck; empties the lists of contacts.
//
// In: start, x, y, inverseMass, progress.stuck. Out: vertexStep.flags, motions (common/motions.wgsl), lists. Mirrors
// markMoving (src/solver/cpu/motion.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read> start: array<f32>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> y: array<f32>;
@group(0) @binding(4) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(5) var<storage, read_write> vertexStep: array<VertexStep>;
@group(0) @binding(6) var<storage, read_write> lists: array<ContactList>;
@group(0) @binding(7) var<storage, read_write> progress: array<VertexProgress>;
@group(0) @binding(8) var<storage, read_write> motions: array<vec4f>;

// #include "common/motions.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn prepare(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount) {
    return;
  }
  let k = 3u * i;
  var here = vec3f(0.0);
  var origin = vec3f(0.0);
  var moves = parameters.movesAll == 1u;
  for (var c = 0u; c < axes(); c++) {
    here[c] = x[k + c];
    origin[c] = start[k + c];
    moves = moves || here[c] != y[k + c];
  }
  let isMovable = inverseMass[i] > 0.0;
  let isStuck = isMovable && progress[i].stuck == STUCK_STEPS;
  atomicStore(&vertexStep[i].flags, select(0u, MOVING, moves) | select(0u, MOVABLE, isMovable) | select(0u, STUCK, isStuck));
  let sort = select(select(IMMOVABLE_VERTEX, MOVABLE_VERTEX, isMovable), STUCK_VERTEX, isStuck);
  motions[2u * i] = vec4f(here, select(-sort, sort, moves));
  var delta = parameters.delta;
  if (parameters.hasDistances != 0u) {
    delta = start[3u * parameters.vertexCount + i];
  }
  motions[2u * i + 1u] = vec4f(origin, delta);
  atomicStore(&lists[i].count, 0u);
  lists[i].offset = 0u;
  atomicStore(&lists[i].cursor, 0u);
  atomicStore(&lists[i].rows, 0u);
}
