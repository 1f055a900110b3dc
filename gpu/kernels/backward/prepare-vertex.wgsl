// The work of backward/prepare.wgsl on one vertex, for kernels with the same bindings.
// #include "common/vertex-sorts.wgsl"

fn prepareVertex(i: u32) {
  let k = 3u * i;
  var here = vec3f(0.0);
  var origin = vec3f(0.0);
  var moves = parameters.movesAll == 1u;
  for (var c = 0u; c < axes(); c++) {
    here[c] = x[k + c];
    origin[c] = start[k + c];
    moves = moves || here[c] != y[i][c];
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
