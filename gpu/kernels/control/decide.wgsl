// Decides what comes next, by one thread: reads what a step counted, decides whether the run is over or a search is due, and
// writes the sizes of the next step's dispatches, all zero when nothing is to run. `decide` closes a step, `open` opens a
// request, `arm` resumes a run that had paused, `afterSearch` takes the result of a search on the device, `watchForSearch`
// pauses for one, `afterGeometry` takes the result of geometry.
//
// Nothing here is behind a branch: unconditional reads and writes of one thread are cheap for a software driver to compile,
// conditional ones cost several times as much. Where nothing changes, the old value is written back.
//
// In and out: control. Out: stepArguments, candidateArguments. Mirrors the loop of TwoWay.resolve,
// ProgressWatch.wantsSearch and judge (src/solver/cpu/two-way.ts, progress-watch.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read_write> stepArguments: array<u32>;
@group(0) @binding(3) var<storage, read_write> candidateArguments: array<u32>;
// u32[colours + 1] first edge of each colour, in sweep order
@group(0) @binding(4) var<storage, read> edgeColours: array<u32>;

// Round D(l) down: the longest motion errs by a few u of itself, each of the two differences by u of D(l), u = 2^-23.
const MOVE_ROUNDING: f32 = 1.00001;
const RADIUS_ROUNDING: f32 = 2.5e-7;

// #include "control/arguments.wgsl"
// #include "control/take-candidates.wgsl"

// D(l) after the step whose largest move was counted.
fn narrowedRadius() -> f32 {
  let motion = 2.0 * MOVE_ROUNDING * bitcast<f32>(atomicLoad(&control.largestMoveBits));
  return (control.radius - motion) - RADIUS_ROUNDING * control.radius;
}

// The sum of r over the unfinished vertices at the end of a window of steps.
fn sumOfResiduals() -> f32 {
  let high = f32(atomicLoad(&control.residualSumHigh));
  return high * 4294967296.0 + f32(atomicLoad(&control.residualSum));
}

// Where the pull-back follows, a run that has ended goes on with it, unless no step is left; the host records its steps.
fn handedOver(state: u32) -> bool {
  let hasEnded = state == CONVERGED || state == STALLED || (state == AT_STEP_LIMIT && parameters.reservedSteps > 0u);
  return parameters.hasPullBack == 1u && hasEnded;
}

@compute @workgroup_size(1)
fn decide() {
  let state = control.state;
  let isRunning = state == RUNNING;
  let one = select(0u, 1u, isRunning);
  let steps = control.steps + one;
  control.steps = steps;
  control.clock += one;
  let residual = bitcast<f32>(atomicLoad(&control.residualBits));
  control.residual = select(control.residual, residual, isRunning);
  control.unfinished = select(control.unfinished, atomicLoad(&control.unfinishedCount), isRunning);
  control.touching = select(control.touching, atomicLoad(&control.touchingCount), isRunning);
  control.short = select(control.short, atomicLoad(&control.shortCount), isRunning);
  control.mostContacts = max(control.mostContacts, select(0u, atomicLoad(&control.rowCount), isRunning));
  control.candidates = select(control.candidates, atomicLoad(&control.candidateCount), isRunning);
  control.limitedIn = select(control.limitedIn, control.searches, isRunning);

  // A search: by the re-search rule (guard BOXES), or when D(l) < Dmin (guard RADIUS).
  let hasRadius = parameters.hasBoxes == 0u;
  let radius = select(control.radius, narrowedRadius(), isRunning && hasRadius);
  control.radius = radius;
  let isDue = isSearchDue();
  control.clearsStopped = select(control.clearsStopped, select(0u, 1u, isDue), isRunning && !hasRadius);
  let isFew = f32(atomicLoad(&control.wantedCount)) <= PARTIAL_SHARE * f32(parameters.vertexCount);
  let forBoxes = select(SEARCH_NONE, select(SEARCH_ALL, SEARCH_PART, isFew), isDue);
  let search = select(forBoxes, select(SEARCH_NONE, SEARCH_ALL, radius < parameters.radiusMin), hasRadius);

  // The end of a window of steps, when it is due: stagnated for good, or a search is asked for before that.
  let isDone = residual < parameters.epsilon;
  let isJudged = isRunning && !isDone;
  let windowSteps = control.windowSteps + select(0u, 1u, isJudged);
  let isWindowOver = isJudged && windowSteps >= WINDOW;
  let sum = sumOfResiduals();
  let hasMoved = sum < (1.0 - FALLEN_SHARE) * control.windowSum || atomicLoad(&control.hasMoved) == 1u;
  let hasForced = control.hasForcedSearch == 1u;
  control.windowSteps = select(windowSteps, 0u, isWindowOver);
  control.windowSum = select(control.windowSum, sum, isWindowOver);
  control.hasForcedSearch = select(control.hasForcedSearch, select(1u, 0u, hasMoved), isWindowOver);
  let isStalled = isWindowOver && !hasMoved && hasForced;
  let isForced = isWindowOver && !hasMoved && !hasForced;
  let wanted = select(control.wantsSearch, select(search, SEARCH_ALL, isForced), isRunning);
  control.wantsSearch = wanted;

  let limited = select(RUNNING, AT_STEP_LIMIT, steps >= parameters.stepLimit);
  // The pull-back brings dynamic vertices nearer than further steps would, once what is prescribed has arrived, unless targets
  // are scattered.
  let hasArrived = parameters.hasEarlyPullBack == 1u && atomicLoad(&control.lateCount) == 0u;
  let ended = select(select(limited, STALLED, isStalled), CONVERGED, isDone || hasArrived);
  let isHandedOver = isRunning && handedOver(ended);
  control.ending = select(control.ending, ended, isHandedOver);
  control.phase = select(control.phase, PHASE_PULL, isHandedOver);
  control.state = pausedForSearch(select(select(state, ended, isRunning), NEEDS_PHASE, isHandedOver), wanted, true);
  clearCounters();
  writeArguments();
}

@compute @workgroup_size(1)
fn open() {
  // control/begin.wgsl counted the vertices that are to move, those that do not fit P and its boxes, and those that want new ones.
  let unfinished = atomicLoad(&control.unfinishedCount);
  control.unfinished = unfinished;
  control.windowSum = RESIDUAL_PARTS * f32(unfinished);
  control.residual = select(0.0, 1.0, unfinished > 0u);
  // D from the net displacement since the search, where that is worse than what is left of it.
  let motion = 2.0 * MOVE_ROUNDING * bitcast<f32>(atomicLoad(&control.largestMoveBits));
  let hasBoxes = parameters.hasBoxes == 1u;
  let radius = select(min(control.radius, parameters.radiusMax - motion), control.radius, hasBoxes);
  control.radius = radius;
  let fits = atomicLoad(&control.invalidCount) == 0u && control.isReused == 1u &&
    (hasBoxes || radius >= parameters.radiusMin);
  // Strains, and edges with lengths at rest, may be out of their limits where nothing is to move.
  let hasOwnLimits = parameters.hasStrains == 1u || (parameters.hasRest == 1u && parameters.hasPullBack == 1u);
  let isAsked = unfinished > 0u || hasOwnLimits;
  let isReused = fits && isAsked;
  control.isReused = select(0u, 1u, isReused);
  let limited = select(control.state, AT_STEP_LIMIT, parameters.stepLimit == 0u);
  let hasArrived = parameters.hasEarlyPullBack == 1u && atomicLoad(&control.lateCount) == 0u;
  let isHandedOver = isAsked && (hasArrived || (limited == AT_STEP_LIMIT && handedOver(limited)));
  control.phase = select(PHASE_ADVANCE, PHASE_PULL, isHandedOver);
  control.ending = select(limited, CONVERGED, hasArrived);
  // Boxes that would cut motions of the first step. The pull-back has a rule of its own (awaitSearch).
  let cut = f32(atomicLoad(&control.wantedCount));
  let isFew = cut <= PARTIAL_SHARE * f32(parameters.vertexCount);
  let forBoxes = select(SEARCH_NONE, select(SEARCH_ALL, SEARCH_PART, isFew), cut > 0.0 && !isHandedOver);
  let search = select(SEARCH_ALL, forBoxes, isReused);
  control.wantsSearch = search;
  let ended = select(limited, CONVERGED, unfinished == 0u);
  // A search may follow the opening.
  control.state = pausedForSearch(select(ended, NEEDS_PHASE, isHandedOver), search, false);
  control.clock += 1u;
  clearCounters();
  writeArguments();
}

@compute @workgroup_size(1)
fn arm() {
  clearCounters();
  writeArguments();
}

@compute @workgroup_size(1)
fn afterSearch() {
  let wanted = control.wantsSearch;
  let isOn = control.state == RUNNING && wanted != SEARCH_NONE;
  let demand = control.pairDemand;
  let hasRoom = demand <= control.pairCapacity;
  let isTaken = isOn && hasRoom;
  control.state = select(control.state, NEEDS_ROOM, isOn && !hasRoom);
  control.pairCount = select(control.pairCount, demand, isTaken);
  control.wantsSearch = select(control.wantsSearch, SEARCH_NONE, isTaken);
  control.searches += select(0u, 1u, isTaken);
  // Multipliers are kept by pair. A search of a part takes them along (pull-back/carry-multipliers.wgsl); after one of
  // everything the pairs are others.
  let isCarried = isTaken && wanted == SEARCH_PART && control.keptAt > 0u;
  control.keptAt = select(control.keptAt, 0u, isTaken && !isCarried);
  control.radius = select(control.radius, parameters.radiusMax, isTaken && parameters.hasBoxes == 0u);
  // Without a search these are the sizes that were written when the step was opened.
  writeArguments();
  writeSlot(STEP_SLOT_CARRIED, foldThreads(control.pairCount).xy * select(0u, 1u, isCarried));
}

// The first step of a submission follows, recorded without a search: where one is due, the host records it. Before the other
// steps the run pauses by itself (watchesSearch).
@compute @workgroup_size(1)
fn watchForSearch() {
  let isDue = control.state == RUNNING && control.wantsSearch != SEARCH_NONE;
  control.state = select(control.state, NEEDS_SEARCH, isDue);
  // Where none is due these are the sizes that were written when the step was opened.
  writeArguments();
}

@compute @workgroup_size(1)
fn afterGeometry() {
  takeCandidates();
}
