// Whether the sweeps of a step go on, by one workgroup. `judgeSweeps`, after a round of them: an element is out of its limits
// by more than SWEPT_STRAIN, in the last steps at all, and the sum of squares has reached a new low lately; the run wants
// another round then (pull-back/judge-lengths.wgsl).
//
// In: sums. In and out: control, strainProgress. Out: stepArguments, candidateArguments. Mirrors StrainLimits.wantsMoreSweeps
// (src/solver/cpu/strain-limits.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read_write> stepArguments: array<u32>;
@group(0) @binding(3) var<storage, read_write> candidateArguments: array<u32>;
@group(0) @binding(4) var<storage, read> edgeColours: array<u32>;
@group(0) @binding(5) var<storage, read> sums: array<vec4f>;
@group(0) @binding(6) var<uniform> pullBack: PullBack;
@group(0) @binding(7) var<storage, read_write> strainProgress: StrainProgress;
// #include "control/arguments.wgsl"
// #include "pull-back/sum-parts.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn judgeSweeps(@builtin(local_invocation_index) local: u32) {
  let excess = sumOfParts(sumGroups(), local).x;
  if (local != 0u || control.state != RUNNING) {
    return;
  }
  let worst = bitcast<f32>(atomicLoad(&strainProgress.worst));
  atomicStore(&strainProgress.worst, 0u);
  // Pass 0 is no sweep.
  let rounds = (control.sweepsDone - 1u) / pullBack.sweeps;
  let isLow = rounds <= 1u || excess < MORE_SWEEPS_FALLEN_TO * strainProgress.leastExcess;
  let best = select(strainProgress.bestRound, rounds, isLow);
  strainProgress.bestRound = best;
  strainProgress.leastExcess = select(strainProgress.leastExcess, excess, isLow);
  let most = select(SWEPT_STRAIN, 0.0, pullBack.phase == PHASE_SHORTEN);
  let wantsMore = worst > most && rounds < MORE_SWEEPS_ROUNDS && rounds - best < MORE_SWEEPS_PATIENCE;
  control.state = select(RUNNING, WANTS_SWEEPS, wantsMore);
  writeArguments();
}
