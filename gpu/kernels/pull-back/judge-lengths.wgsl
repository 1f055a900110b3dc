// Whether the sweeps of a step go on, by one workgroup. `judgeLengths`, after a round of them: edges are over their limits by
// more than the step may leave, and the sum of squares has reached a new low lately; the run wants another round then. A step
// may leave anything until one was poor because of such edges (decidePull), from then on SWEPT_EXCESS of Φ; one that only
// shortens edges, nothing.
//
// `continueSweeps`, before a further round: a run that wants it goes on, one that does not skips it. `endSweeps`, after rounds
// that were recorded with others: a run that has skipped one goes on. One that still wants a round pauses at the end of the
// step's kernels (awaitSearch): no round of a later submission must run, for the host does not know of it.
//
// In: sums. In and out: control. Out: stepArguments, candidateArguments. Mirrors EdgeLimits.wantsMore
// (src/solver/cpu/edge-limits.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read_write> stepArguments: array<u32>;
@group(0) @binding(3) var<storage, read_write> candidateArguments: array<u32>;
@group(0) @binding(4) var<storage, read> edgeColours: array<u32>;
@group(0) @binding(5) var<storage, read> sums: array<vec4f>;
@group(0) @binding(6) var<uniform> pullBack: PullBack;
// #include "control/arguments.wgsl"
// #include "pull-back/sum-parts.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn judgeLengths(@builtin(local_invocation_index) local: u32) {
  let excess = sumOfParts(sumGroups(), local).x;
  if (local != 0u || control.state != RUNNING) {
    return;
  }
  let isShortening = pullBack.phase == PHASE_SHORTEN;
  // Pass 0 is no sweep.
  let rounds = (control.sweepsDone - 1u) / pullBack.sweeps;
  let isLow = excess < MORE_SWEEPS_FALLEN_TO * control.leastExcess;
  let best = select(control.bestRound, rounds, isLow);
  control.bestRound = best;
  control.leastExcess = select(control.leastExcess, excess, isLow);
  let isJudged = isShortening || control.isThorough == 1u;
  let most = select(SWEPT_EXCESS * control.bestMerit / EXCESS_WEIGHT, 0.0, isShortening);
  let mayFall = rounds < MORE_SWEEPS_ROUNDS && rounds - best < MORE_SWEEPS_PATIENCE;
  control.state = select(RUNNING, WANTS_SWEEPS, isJudged && mayFall && excess > most);
  writeArguments();
}

@compute @workgroup_size(1)
fn continueSweeps() {
  let isWanted = control.state == WANTS_SWEEPS;
  let isInVain = control.state == RUNNING;
  control.state = select(select(control.state, SKIPS_SWEEPS, isInVain), RUNNING, isWanted);
  writeArguments();
  let size = foldThreads(atomicLoad(&control.rowCount)).xy * select(0u, 1u, isWanted);
  candidateArguments[3u * LIST_SLOT_CANDIDATES] = size.x;
  candidateArguments[3u * LIST_SLOT_CANDIDATES + 1u] = size.y;
}

@compute @workgroup_size(1)
fn endSweeps() {
  control.state = select(control.state, RUNNING, control.state == SKIPS_SWEEPS);
  writeArguments();
}
