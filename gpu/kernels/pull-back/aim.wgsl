// The y that the sweeps have made, one thread a vertex: a vertex that a push took out of the range of float32 stays, for y is
// guidance only; which vertices were pushed; a motion that is too short to be worth a step is not made. Counts which vertices
// want to move, and how much of their motions their trust boxes take, for awaitSearch (pull-back/decide.wgsl).
//
// In: x, goal, inverseMass, box. In and out: y, pull, control. Out: wanted. Mirrors countUnpushed
// (src/solver/cpu/paces.ts), restShortMotions and stayWhereOverflown (motion.ts), losesToBoxes (box-loss.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<uniform> pullBack: PullBack;
@group(0) @binding(2) var<storage, read> x: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4u>;
@group(0) @binding(4) var<storage, read> goal: array<f32>;
@group(0) @binding(5) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(6) var<storage, read_write> pull: array<VertexPull>;
@group(0) @binding(7) var<storage, read> box: array<f32>;
@group(0) @binding(8) var<storage, read_write> control: Control;
@group(0) @binding(9) var<storage, read_write> wanted: array<u32>;
// #include "common/range.wgsl"
// #include "common/box-share.wgsl"
// #include "common/lengths.wgsl"
// #include "common/append.wgsl"
// #include "pull-back/place.wgsl"

// What the vertex adds to the counters of the step.
struct Aimed {
  isMoving: bool,
  // of its way that its trust box does not hold
  loss: u32,
}

fn aimVertex(i: u32) -> Aimed {
  var here = vec3f(0.0);
  var to = vec3f(0.0);
  var asked = vec3f(0.0);
  var isNumber = true;
  for (var c = 0u; c < axes(); c++) {
    let bits = y[i][c];
    isNumber = isNumber && isInRange(bits);
    here[c] = bitcast<f32>(x[3u * i + c]);
    to[c] = bitcast<f32>(bits);
    asked[c] = goal[3u * i + c];
  }
  let isKinematic = inverseMass[i] == 0.0;
  if (pullBack.phase == PHASE_PULL) {
    let unpushed = pull[i].unpushed;
    let rebuilt = placeBetween(here, asked, pull[i].share);
    let isPushed = lengthOf(select(here, to, isNumber) - rebuilt) > pullBack.pushed;
    pull[i].unpushed = select(min(FREE_STEPS, unpushed + 1u), 0u, isPushed);
  }
  // What nothing pushes ends at its target, however near that is: no step is too short for it.
  let isShort = lengthOf(to - here) < pullBack.rest && any(to != asked);
  // In PHASE_RELEASE.
  let wasPushed = pull[i].share == 0.0 || pull[i].unpushed < FREE_STEPS;
  let isHeld = pullBack.phase == PHASE_PULL && pullBack.tau == 0.0 && wasPushed;
  // Where some rest, IS_KEPT is what the last step with all vertices has left; otherwise it says who may be kept, for settleStep.
  let isFar = !isKinematic && abs(pull[i].farAway) > pullBack.longest;
  let isTowards = pullBack.phase == PHASE_PULL && pullBack.tau > 0.0 && pullBack.restsKept == 0u;
  let kept = select(pull[i].lastPull & IS_KEPT, select(0u, IS_KEPT, isFar), isTowards);
  let isResting = pullBack.restsKept == 1u && kept != 0u;
  let rests = !isNumber || (!isKinematic && (isShort || isHeld || isResting));
  if (rests) {
    for (var c = 0u; c < axes(); c++) {
      y[i][c] = x[3u * i + c];
    }
  }
  let isMoving = !rests && any(to != here);
  wanted[i] = select(0u, 1u, isMoving);
  // For settleStep; `wanted` is written again before.
  pull[i].lastPull = (pull[i].lastPull & ~(WANTS | IS_KEPT)) | kept | select(0u, WANTS, isMoving);
  var loss = 0u;
  if (isMoving) {
    var alpha = 1.0;
    for (var c = 0u; c < axes(); c++) {
      alpha = min(alpha, boxShare(here[c], to[c], box[6u * i + c], box[6u * i + c + 3u]));
    }
    loss = u32(LOSS_PARTS * (1.0 - alpha));
  }
  return Aimed(isMoving, loss);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn aim(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  var aimed = Aimed(false, 0u);
  if (i < parameters.vertexCount) {
    aimed = aimVertex(i);
  }
  // Every thread comes here (common/append.wgsl).
  countUp(&control.wantedCount, aimed.isMoving);
  addUp(&control.boxLoss, aimed.loss);
}
