// Closes a pass of the pull-back (pull-back/passes.wgsl), in one workgroup: β of the extrapolation that follows, and which
// edges the next sweep looks at, all or those that act.
//
//   β = min(MAX_MOMENTUM, k/(k + 3)),  k = 0 where the momentum turns (pull-back/momentum.wgsl); MAX_STRAIN_MOMENTUM in further
//   rounds for strain limits
//
// In: sums, edgeColours. In and out: control, edgeActive. Out: stepArguments. Mirrors AcceleratedSweeps.run
// (src/solver/cpu/accelerated-sweeps.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> sums: array<vec4f>;
@group(0) @binding(3) var<storage, read> edgeColours: array<u32>;
@group(0) @binding(4) var<storage, read_write> edgeActive: array<u32>;
@group(0) @binding(5) var<storage, read_write> stepArguments: array<u32>;
@group(0) @binding(6) var<uniform> pullBack: PullBack;
// #include "pull-back/passes.wgsl"
// #include "pull-back/sum-parts.wgsl"
// #include "pull-back/next-momentum.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn closeSweep(@builtin(local_invocation_index) local: u32) {
  let turned = sumOfParts(sumGroups(), local).x > 0.0;
  if (local != 0u || control.state != RUNNING) {
    return;
  }
  let next = control.sweepsDone;
  turnMomentum(turned);
  let isComplete = isCompletePass(next);
  // Where few edges of the last colours act, one workgroup sweeps these colours.
  var firstTail = parameters.wideColours;
  while (firstTail > 0u && edgeActive[firstTail - 1u] <= TAIL_EDGES) {
    firstTail--;
  }
  control.firstTail = firstTail;
  // The sweep before has listed the edges that act.
  if (isCompletePass(next - 1u)) {
    var ends = 4u * atomicLoad(&control.rowCount);
    for (var c = 0u; c < pullBack.colours; c++) {
      ends += 2u * edgeActive[c];
    }
    control.sweptEnds = ends;
  }
  for (var c = 0u; c < parameters.wideColours; c++) {
    let listed = select(0u, edgeActive[c], c < firstTail);
    let size = foldThreads(select(listed, edgeColours[c + 1u] - edgeColours[c], isComplete));
    let at = 3u * (STEP_SLOT_FIRST_EDGES + c);
    stepArguments[at] = size.x;
    stepArguments[at + 1u] = size.y;
  }
  for (var c = 0u; c < pullBack.colours; c++) {
    edgeActive[c] = select(edgeActive[c], 0u, isComplete);
  }
}
