// Decides what comes next in the pull-back. `openPull` and `openShortening` open its phases, and `ratePull` rates the state
// with which it begins. `decidePull` closes a step; `awaitSearch` closes its sweeps, where the host has to search before x may
// follow. `closeRun` takes the residuals at the end. Phases, ends and statuses:
//
//   PULL      A step gains (Φ_best − Φ)/Φ_best; one that gains anything gains at least the share that the vertices near their
//             targets gain (pull-back/merit.wgsl). A step is poor if it gains less than minGain; in a heap, less than minGain, at
//             least HEAP_MIN_GAIN, times what it costs (pull-back/cost.wgsl). Where the phase began early
//             (src/solver/scattered-targets.ts), it is not poor if it gains anything and a vertex comes nearer by a good part of
//             its leap; and on its way (ON_ITS_WAY) it need not gain more than a step in which the mesh comes nearer by
//             LEAST_PROGRESS δ. Where edges over their limits have made a step poor since the last good one, a step that lowers
//             Φ by minGain, though not below that of the best state, recovers: it counts neither as poor nor as good, unless P is
//             that of a heap. If no box holds a vertex, MAX_POOR_STEPS in a row end the phase as CONVERGED, or one in which no
//             vertex wants to move. If a box does, MAX_HELD_STEPS, in a heap MAX_POOR_STEPS, end it as STALLED; vertices that
//             their boxes hold make a search due. Φ = 0 ends it, and so does its step limit, as AT_STEP_LIMIT.
//   REFINE    follows in a quality with finer steps, unless Φ = 0, no vertex wants to move, or P is that of a heap: PULL with
//             other parameters, and no poor step so far. It does not begin where OTHERS follows.
//   SHORTEN   follows where edges of the best state are above their limits. A step is poor if it takes less than
//             MIN_SHORTENING_GAIN off the excess (in a heap HEAP_SHORTENING_GAIN). MAX_POOR_SHORTENINGS in a row end the phase, in
//             a heap one, and MAX_HELD_SHORTENINGS where a box holds a vertex.
//   RESUME    follows where edges over their limits have ended PULL, a step has recovered since the last good one, or a jammed
//             step (JAMMED_SHARE) has ended it while an edge is over its limit; MOST_RESUMPTIONS times at most, and again only
//             where a step has gained and Φ has fallen, since PULL ended the last time, by what a cheap step must gain. Also once
//             where poor steps have ended PULL of a mesh on its way, not all of them worse than the best state. It is PULL from
//             the best state, without multipliers (PoorSteps.mayResume). REFINE does not begin before the last of them.
//   OTHERS    follows where the last MAX_POOR_STEPS were all worse than the best state, and the last one has left vertices far
//             from their targets (IS_KEPT): PULL from the best state, without multipliers, in which these vertices rest. No finer
//             steps follow it, and it is not resumed.
//   RELEASE   follows where no step has gained anything, but one has moved a vertex that no row pushed (`hasFree`): steps of PULL
//             from the best state, without multipliers, in which what was pushed lately rests, as long as they gain and a leap
//             limits a vertex (PullBack.#release).
//
// Nothing is behind a branch, for the reason in control/arguments.wgsl: where nothing changes, the old value is written back.
//
// In: sums (parts of Φ, which `openPull`, `ratePull` and `decidePull` add up, in one workgroup), edgeColours. In and out:
// control. Out: stepArguments, candidateArguments. Mirrors PullBack.#pull and #shortenEdges (src/solver/cpu/pull-back.ts), and
// PoorSteps (poor-steps.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read_write> stepArguments: array<u32>;
@group(0) @binding(3) var<storage, read_write> candidateArguments: array<u32>;
@group(0) @binding(4) var<storage, read> edgeColours: array<u32>;
@group(0) @binding(5) var<storage, read> sums: array<vec4f>;
@group(0) @binding(6) var<uniform> pullBack: PullBack;
// #include "control/arguments.wgsl"
// #include "pull-back/cost.wgsl"
// #include "pull-back/sum-parts.wgsl"
// #include "pull-back/merit-scale.wgsl"

fn meritOf(parts: vec2f) -> f32 {
  return parts.x + EXCESS_WEIGHT * parts.y;
}

// Of Φ, the gain of a step in which a mesh on its way comes nearer by LEAST_PROGRESS δ; 0 = it is not on its way in a state with
// this Φ and excess. Distances are a few units at most, so that no sum of their squares is 2^120, and more need not be told apart.
fn leastGainOnTheWay(merit: f32, excess: f32) -> f32 {
  let scale = meritScale(atomicLoad(&control.unitBits));
  let far = min(scale * pullBack.far, 0x1p+60f);
  let sum = merit - EXCESS_WEIGHT * excess;
  let isFar = far > 0.0 && sum > far * far;
  return select(0.0, scale * pullBack.progress / sqrt(select(1.0, sum, isFar)), isFar);
}

// How a phase goes on after a step, or before the first one.
fn limitedOr(state: u32) -> u32 {
  return select(state, AT_STEP_LIMIT, state == RUNNING && control.steps >= parameters.stepLimit);
}

// Whether a step is left to the next phase.
fn hasStepsAfter() -> bool {
  return control.steps < parameters.stepLimit + parameters.reservedSteps;
}

// Hands over to `next`. SHORTEN, OTHERS and RELEASE end as `ending` unless they are stopped.
fn handOver(next: u32, ending: u32) {
  let keepsEnding = next == PHASE_SHORTEN || next == PHASE_OTHERS || next == PHASE_RELEASE;
  control.ending = select(control.ending, ending, keepsEnding && next != control.phase);
  control.phase = next;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn openPull(@builtin(local_invocation_index) local: u32) {
  let parts = sumOfParts(sumGroups(), local);
  if (local != 0u) {
    return;
  }
  let merit = meritOf(parts.xy);
  control.bestMerit = merit;
  control.bestExcess = parts.y;
  control.poorSteps = 0u;
  control.beyond = 0.0;
  control.wasTaut = 0u;
  control.hasRecovered = 0u;
  control.worseSteps = 0u;
  control.isThorough = 0u;
  control.poorShortenings = 0u;
  control.hasGained = 0u;
  control.isClosed = 0u;
  control.mayResume = 0u;
  control.isBest = 0u;
  control.hasAim = 0u;
  control.windowSteps = 0u;
  control.clearsStopped = 0u;
  control.keptAt = 0u;
  control.wantsSearch = select(SEARCH_ALL, SEARCH_NONE, control.wantsSearch == SEARCH_NONE);
  let state = limitedOr(select(CONVERGED, RUNNING, merit > 0.0));
  let isNext = state == AT_STEP_LIMIT && parts.y > 0.0 && hasStepsAfter();
  handOver(select(control.phase, PHASE_SHORTEN, isNext), state);
  control.state = select(state, NEEDS_PHASE, isNext);
  writeArguments();
}

// Before the first step, once P is known: contacts count from here on.
@compute @workgroup_size(WORKGROUP_SIZE)
fn ratePull(@builtin(local_invocation_index) local: u32) {
  let parts = sumOfParts(sumGroups(), local);
  if (local == 0u) {
    control.bestMerit = select(control.bestMerit, meritOf(parts.xy), control.state == RUNNING);
  }
}

@compute @workgroup_size(1)
fn openShortening() {
  control.wantsSearch = SEARCH_ALL;
  control.clearsStopped = 0u;
  control.isBest = 0u;
  control.hasAim = 0u;
}

@compute @workgroup_size(1)
fn awaitSearch() {
  // Before the first sweeps of a phase there is no aim yet.
  let hasSwept = control.state == RUNNING && control.sweepsDone > 0u;
  control.hasAim = select(control.hasAim, 1u, hasSwept);
  control.keptAt = select(control.keptAt, control.clock, hasSwept);
  // Here and not in decidePull, before which the run may pause: then the counters are cleared.
  control.mostContacts = max(control.mostContacts, select(0u, atomicLoad(&control.rowCount), hasSwept));
  control.candidates = select(control.candidates, atomicLoad(&control.candidateCount), hasSwept);
  // A search is due, or the boxes take so much of the motions that one pays before the step (pull-back/aim.wgsl).
  let wanted = atomicLoad(&control.wantedCount);
  let loses = f32(atomicLoad(&control.boxLoss)) > BOX_LOSS * LOSS_PARTS * f32(wanted);
  let isFew = f32(wanted) <= PARTIAL_SHARE * f32(parameters.vertexCount);
  let search = select(SEARCH_NONE, select(SEARCH_ALL, SEARCH_PART, isFew), control.wantsSearch != SEARCH_NONE || (loses && costOfStep() == 1.0));
  control.wantsSearch = select(control.wantsSearch, search, hasSwept);
  let state = pausedForSearch(control.state, control.wantsSearch, hasSwept);
  control.state = select(state, NEEDS_SWEEPS, state == WANTS_SWEEPS);
  writeArguments();
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn decidePull(@builtin(local_invocation_index) local: u32) {
  let parts = sumOfParts(sumGroups(), local);
  workgroupBarrier();
  let near = sumOfPartsFrom(SUM_GROUPS, sumGroups(), local);
  if (local != 0u) {
    return;
  }
  let isRunning = control.state == RUNNING;
  let one = select(0u, 1u, isRunning);
  let isPull = pullBack.phase == PHASE_PULL;
  control.steps += one;
  control.clock += one;
  control.lastFurther = select(control.lastFurther, control.furtherPieces, isRunning);
  control.furtherPieces = select(control.furtherPieces, 0u, isRunning);
  let moving = atomicLoad(&control.movingCount);
  control.residual = select(control.residual, select(0.0, 1.0, moving > 0u), isRunning);
  control.unfinished = select(control.unfinished, moving, isRunning);
  control.touching = select(control.touching, atomicLoad(&control.touchingCount), isRunning);
  control.limitedIn = select(control.limitedIn, control.searches, isRunning);

  // What the state loses against the best one was summed term by term: the difference of two sums would be lost in their rounding
  // where one vertex is far from its target.
  let present = select(parts.y, meritOf(parts.xy), isPull);
  let best = select(control.bestExcess, control.bestMerit, isPull);
  let loss = select(parts.w, meritOf(parts.zw), isPull);
  let isBest = isRunning && loss < 0.0;
  let gain = select(0.0, -loss / best, best > 0.0);
  let nearGain = select(0.0, -near.y / near.x, near.x > 0.0);
  let left = select(best, present, isBest);
  let bestExcess = select(control.bestExcess, parts.y, isBest);
  control.bestMerit = select(control.bestMerit, present, isBest && isPull);
  control.bestExcess = bestExcess;
  control.bests += select(0u, 1u, isBest);
  control.isBest = select(0u, 1u, isBest);

  let isHeld = atomicLoad(&control.heldCount) > 0u;
  let cost = costOfStep();
  let onTheWay = leastGainOnTheWay(control.bestMerit, bestExcess);
  let isFar = isPull && onTheWay > 0.0;
  let cheapGain = select(pullBack.minGain, min(pullBack.minGain, onTheWay), isFar);
  let leastGain = select(cheapGain, cost * max(pullBack.minGain, HEAP_MIN_GAIN), cost > 1.0);
  let isEnough = gain >= leastGain || (isBest && nearGain >= pullBack.minGain && cost == 1.0);
  let isRich = isEnough || (isBest && parameters.hasEarlyPullBack == 1u && atomicLoad(&control.isLeaping) == 1u);
  // A share may be too large for a float32.
  let beyond = select(0.0, min(max(-gain, 0.0), 0x1p+60f), isPull);
  let isLess = control.beyond - beyond >= pullBack.minGain * (1.0 + control.beyond);
  let isRecovering = isPull && !isBest && cost == 1.0 && control.wasTaut == 1u && isLess;
  control.beyond = select(control.beyond, beyond, isRunning);
  let poor = select(control.poorSteps + select(1u, 0u, isRecovering), 0u, isRich);
  control.poorSteps = select(control.poorSteps, poor, isRunning);
  let worse = select(control.worseSteps + 1u, 0u, isBest);
  control.worseSteps = select(control.worseSteps, worse, isRunning);
  let isStretched = EXCESS_WEIGHT * parts.y > pullBack.minGain * present && cost == 1.0;
  // Steps of RELEASE go on only while they gain: none of them is made otherwise because of the one before.
  let isRelease = control.phase == PHASE_RELEASE;
  let isJudged = isPull && !isRelease;
  control.isThorough = select(control.isThorough, 1u, isRunning && isJudged && !isRich && isStretched);
  let wasTaut = !isRich && (control.wasTaut == 1u || isStretched);
  let hasRecovered = !isRich && (control.hasRecovered == 1u || isRecovering);
  control.wasTaut = select(control.wasTaut, select(0u, 1u, wasTaut), isRunning);
  control.hasRecovered = select(control.hasRecovered, select(0u, 1u, hasRecovered), isRunning);
  let isStill = moving == 0u;
  control.hasGained = select(control.hasGained, 1u, isRunning && isPull && isRich);
  let isSettled = !isHeld && (isStill || (poor >= MAX_POOR_STEPS && !isRecovering));
  let isStuck = isHeld && poor >= select(MAX_HELD_STEPS, MAX_POOR_STEPS, cost > 1.0);
  let isOthers = control.phase == PHASE_OTHERS;
  let settled = select(select(RUNNING, STALLED, isStuck), CONVERGED, isSettled || !(left > 0.0));
  let released = select(control.ending, RUNNING, isBest && atomicLoad(&control.isLeaping) == 1u);
  let others = select(control.ending, RUNNING, settled == RUNNING);
  let pulled = select(select(settled, released, isRelease), others, isOthers);

  let leastShortening = select(MIN_SHORTENING_GAIN, HEAP_SHORTENING_GAIN, cost > 1.0);
  let poorShortenings = select(0u, control.poorShortenings + 1u, !isPull && gain < leastShortening);
  control.poorShortenings = select(control.poorShortenings, poorShortenings, isRunning);
  let mostPoor = select(select(MAX_POOR_SHORTENINGS, MAX_HELD_SHORTENINGS, isHeld), 1u, cost > 1.0);
  let isShort = poorShortenings >= mostPoor || !(left > 0.0);
  let shortened = select(RUNNING, control.ending, isShort);

  // A vertex that its box holds may gain something in a new box, if that can be larger; where edges are shortened, at
  // once.
  let isDue = isSearchDue();
  let isAsked = isDue || (isHeld && (!isPull || (isJudged && poor > 0u && cost == 1.0)));
  control.clearsStopped = select(control.clearsStopped, select(0u, 1u, isDue), isRunning);
  // For awaitSearch, after the sweeps: only then is it known for which vertices to search.
  control.wantsSearch = select(control.wantsSearch, select(SEARCH_NONE, SEARCH_PART, isAsked), isRunning);

  // Edges over their limits have ended the phase: it is resumed, after those of the best state are shortened.
  // Again only where Φ has fallen since then, not where steps have only regained what the last steps gave away.
  let isLower = control.hasGained == 1u && left <= (1.0 - cheapGain) * control.resumedMerit;
  let hasGained = control.resumptions == 0u || isLower;
  let mayGain = control.phase != PHASE_REFINE && !isRelease && !isOthers && control.resumptions < MOST_RESUMPTIONS && hasGained;
  let jammed = f32(atomicLoad(&control.jammedCount));
  let isJammed = jammed >= JAMMED_SHARE * f32(moving);
  let isHeldFar = isJammed && parts.y > 0.0 && parameters.hasEarlyPullBack == 1u && cost == 1.0;
  let isTaut = isPull && pulled == CONVERGED && left > 0.0 && !isStill && (isStretched || isHeldFar || (hasRecovered && cost == 1.0));
  // On its way, a mesh is resumed once whatever its edges.
  let isPoorAlone = isPull && pulled == CONVERGED && left > 0.0 && !isStill && cost == 1.0 && worse < MAX_POOR_STEPS;
  let isOnItsWay = isPoorAlone && isFar && mayGain && control.resumptions == 0u;
  let mayResume = isRunning && ((isTaut && mayGain) || isOnItsWay);
  control.mayResume = select(control.mayResume, select(0u, 1u, mayResume), isRunning && isPull);
  control.resumedMerit = select(control.resumedMerit, left, mayResume);
  // Worse states, with vertices that something keeps far from their targets: the others may gain while these rest.
  let isKept = atomicLoad(&control.hasKept) == 1u && worse >= MAX_POOR_STEPS && cost == 1.0;
  // Finer steps are next, if the phase has steps left.
  let mayRefine = pullBack.hasFiner == 1u && left > 0.0 && !isStill && cost == 1.0;
  let hasFiner = isPull && pulled != RUNNING && mayRefine && !mayResume && !isKept;
  let isResumed = (mayResume && !(bestExcess > 0.0)) || (isRunning && !isPull && isShort && control.mayResume == 1u);
  control.resumptions += select(0u, 1u, isResumed);
  let ended = limitedOr(select(select(shortened, pulled, isPull), RUNNING, hasFiner || isResumed));
  let isFiner = isRunning && hasFiner && ended == RUNNING;
  let isOver = isRunning && isPull && (ended == CONVERGED || ended == STALLED) && !mayResume && control.steps < parameters.stepLimit;
  let isForOthers = isOver && !isRelease && !isOthers && left > 0.0 && isKept;
  // The state with which the pull-back began is the best one, though something could move that nothing pushes.
  let isReleased = isOver && !isRelease && !isForOthers && control.bests == 0u && left > 0.0 && atomicLoad(&control.hasFree) == 1u;
  // Edges of the best state are above their limits: they are shortened next, if there are steps left.
  let isWanted = isRunning && isPull && ended != RUNNING && bestExcess > 0.0 && !isFiner && !isReleased && !isForOthers;
  let isNext = isWanted && hasStepsAfter();
  let goesBack = isResumed && ended == RUNNING;
  let hasNext = isNext || isFiner || goesBack || isReleased || isForOthers;
  // Each phase begins without: its first step may have several pieces.
  let isClosed = isJudged && !isRich && jammed >= CLOSED_SHARE * f32(moving) && !hasNext;
  control.isClosed = select(control.isClosed, select(0u, 1u, isClosed), isRunning);
  var next = select(select(control.phase, PHASE_SHORTEN, isNext), PHASE_REFINE, isFiner);
  next = select(select(next, PHASE_RESUME, goesBack), PHASE_RELEASE, isReleased);
  handOver(select(next, PHASE_OTHERS, isForOthers), ended);
  let state = select(select(ended, AT_STEP_LIMIT, isWanted), NEEDS_PHASE, hasNext);
  control.state = select(control.state, state, isRunning);
  atomicStore(&control.isLeaping, select(atomicLoad(&control.isLeaping), 0u, isRunning));
  atomicStore(&control.hasKept, select(atomicLoad(&control.hasKept), 0u, isRunning));
  clearCounters();
  writeArguments();
  // A state is kept also where the run has ended with it.
  writeSlot(STEP_SLOT_AIMS, foldThreads(parameters.vertexCount).xy * select(0u, 1u, isBest || control.state == RUNNING));
}

@compute @workgroup_size(1)
fn closeRun() {
  control.residual = bitcast<f32>(atomicLoad(&control.residualBits));
  control.unfinished = atomicLoad(&control.unfinishedCount);
}
