// One workgroup a component of elements with strain limits: its vertices from the thread's on, every so-many-th, and what all
// threads have found together.
//
// strainMembers: of each component the place of its first vertex in this array, and an end; then the vertices, component by
// component.
var<workgroup> found: array<vec2f, TAIL_THREADS>;
var<workgroup> together: vec2f;

// The sum of what the threads have, in their order, for all of them.
fn sumOfThreads(own: vec2f, local: u32) -> vec2f {
  found[local] = own;
  workgroupBarrier();
  if (local == 0u) {
    var sum = vec2f(0.0);
    for (var n = 0u; n < TAIL_THREADS; n++) {
      sum += found[n];
    }
    together = sum;
  }
  return workgroupUniformLoad(&together);
}

// The largest of what the threads have, for all of them.
fn mostOfThreads(own: f32, local: u32) -> f32 {
  found[local].x = own;
  workgroupBarrier();
  if (local == 0u) {
    var most = found[0].x;
    for (var n = 1u; n < TAIL_THREADS; n++) {
      most = max(most, found[n].x);
    }
    together.x = most;
  }
  return workgroupUniformLoad(&together).x;
}

// Stands for no component: the run does not go on, or there are no more components.
const NO_COMPONENT: u32 = 0xffffffffu;

// The component of a workgroup.
fn componentOf(group: vec3u, groups: vec3u) -> u32 {
  let c = foldedGroup(group, groups);
  return select(NO_COMPONENT, c, control.state == RUNNING && c < arrayLength(&strainShares));
}
