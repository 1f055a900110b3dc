// Between the pieces of a forward step of the pull-back, each of which has planes, bounds, check and commit of its own.
// `nextPiece`, one thread: another one follows if a vertex has not reached y and P has at most the comfortable number of pairs,
// or fewer after a poor step with closed contacts (mostPiecesOf in src/solver/cpu/poor-steps.ts), and geometry of pairs counts
// as stale; else the recorded pieces are skipped. `endPieces`, one thread: the step goes on to its decision.
//
// Nothing is behind a branch, for the reason in control/arguments.wgsl: where nothing changes, the old value is written back.
//
// In: edgeColours, pullBack. In and out: control. Out: stepArguments, candidateArguments. Mirrors PullBackStep.forward
// (src/solver/cpu/pull-back-step.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read_write> stepArguments: array<u32>;
@group(0) @binding(3) var<storage, read_write> candidateArguments: array<u32>;
@group(0) @binding(4) var<storage, read> edgeColours: array<u32>;
@group(0) @binding(5) var<uniform> pullBack: PullBack;
// #include "control/arguments.wgsl"

@compute @workgroup_size(1)
fn nextPiece() {
  let isRunning = control.state == RUNNING;
  let left = atomicLoad(&control.leftCount);
  let most = select(pullBack.cheapPairs, pullBack.cheapPairs / CLOSED_CHEAPER, control.isClosed == 1u);
  let isComfortable = 2.0 * f32(control.pairCount) <= most;
  let goesOn = isRunning && left > 0u && isComfortable;
  let one = select(0u, 1u, goesOn);
  control.state = select(control.state, ENDS_PIECES, isRunning && !goesOn);
  control.clock += one;
  control.furtherPieces += one;
  atomicStore(&control.leftCount, left * (1u - one));
  atomicStore(&control.activeCount, atomicLoad(&control.activeCount) * (1u - one));
  atomicStore(&control.touchingCount, atomicLoad(&control.touchingCount) * (1u - one));
  writeArguments();
}

@compute @workgroup_size(1)
fn endPieces() {
  control.state = select(control.state, RUNNING, control.state == ENDS_PIECES);
  writeArguments();
}
