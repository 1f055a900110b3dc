// The y that the sweeps have made, one thread a vertex: a vertex that a push took out of the range of float32 stays, for y is guidance
// only; which vertices were pushed; a motion that is too short to be worth a step is not made.
//
// In: x, goal, inverseMass. In and out: y, pull. Mirrors PullBack.#observePushes (src/solver/cpu/pull-back.ts), restShortMotions
// and stayWhereOverflown (motion.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<uniform> pullBack: PullBack;
@group(0) @binding(2) var<storage, read> x: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<u32>;
@group(0) @binding(4) var<storage, read> goal: array<f32>;
@group(0) @binding(5) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(6) var<storage, read_write> pull: array<VertexPull>;
// #include "common/range.wgsl"
// #include "pull-back/rebuilt.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn aim(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount) {
    return;
  }
  var here = vec3f(0.0);
  var to = vec3f(0.0);
  var wanted = vec3f(0.0);
  var isNumber = true;
  for (var c = 0u; c < axes(); c++) {
    let bits = y[3u * i + c];
    isNumber = isNumber && isInRange(bits);
    here[c] = bitcast<f32>(x[3u * i + c]);
    to[c] = bitcast<f32>(bits);
    wanted[c] = goal[3u * i + c];
  }
  let isKinematic = inverseMass[i] == 0.0;
  if (pullBack.phase == PHASE_PULL) {
    let unpushed = pull[i].unpushed;
    let rebuilt = rebuiltAt(here, wanted, isKinematic || unpushed == FREE_STEPS).to;
    let isPushed = lengthOf(select(here, to, isNumber) - rebuilt) > pullBack.pushed;
    pull[i].unpushed = select(min(FREE_STEPS, unpushed + 1u), 0u, isPushed);
  }
  let rests = !isNumber || (!isKinematic && lengthOf(to - here) < pullBack.rest);
  if (rests) {
    for (var k = 3u * i; k < 3u * i + axes(); k++) {
      y[k] = x[k];
    }
  }
}
