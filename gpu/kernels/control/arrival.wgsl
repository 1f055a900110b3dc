// The last step of kinematic vertices (forward/arrive.wgsl), by one thread. `openArrival` puts a run of Algorithm 1
// that has ended under way again. `closeArrival` ends it again, with one more step if a vertex has moved. Where the
// limit has ended it, and this step was the only one that was left to the pull-back, the run is over.
//
// Nothing is behind a branch, for the reason in control/arguments.wgsl: where nothing changes, the old value is written back.
//
// In: edgeColours. In and out: control. Out: stepArguments, candidateArguments. Mirrors TwoWay.#arrive (src/solver/cpu/two-way.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read_write> stepArguments: array<u32>;
@group(0) @binding(3) var<storage, read_write> candidateArguments: array<u32>;
@group(0) @binding(4) var<storage, read> edgeColours: array<u32>;
// #include "control/arguments.wgsl"

@compute @workgroup_size(1)
fn openArrival() {
  control.stateBefore = control.state;
  control.state = RUNNING;
  clearCounters();
  writeArguments();
}

@compute @workgroup_size(1)
fn closeArrival() {
  control.steps += select(0u, 1u, atomicLoad(&control.movingCount) > 0u);
  control.clock += 1u;
  control.residual = bitcast<f32>(atomicLoad(&control.residualBits));
  control.unfinished = atomicLoad(&control.unfinishedCount);
  control.short = 0u;
  let isOver = control.stateBefore == NEEDS_PHASE && control.ending == AT_STEP_LIMIT &&
    control.steps >= parameters.stepLimit + parameters.reservedSteps;
  control.state = select(control.stateBefore, AT_STEP_LIMIT, isOver);
  clearCounters();
  writeArguments();
}
