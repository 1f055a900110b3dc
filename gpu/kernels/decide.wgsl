// What comes next, by one thread: takes over what a step counted, decides whether the run is over or a search is due, and
// writes the sizes of the next step's dispatches, all zero when nothing is to run. `decide` closes a step, `open` opens a
// request, `arm` lets a run go on that had paused, `afterSearch` takes over what a search on the device found,
// `afterGeometry` what geometry found.
//
// In and out: control. Out: stepArguments, candidateArguments. Mirrors the loop of TwoWay.resolve,
// ProgressWatch.wantsSearch and judge (src/solver/cpu/two-way.ts, progress-watch.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/control.wgsl"
// #include "common/window.wgsl"
// #include "common/slots.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read_write> stepArguments: array<u32>;
@group(0) @binding(3) var<storage, read_write> candidateArguments: array<u32>;
// u32[colours + 1] first edge of each colour, in sweep order
@group(0) @binding(4) var<storage, read> edgeColours: array<u32>;

// A share of stopped vertices among those concerned from which a new search is worth its cost.
const STOPPED_SHARE: f32 = 0.1;
// The unfinished vertices got on if the sum of their r fell by this share over a window.
const FALLEN_SHARE: f32 = 0.01;
// Parts of 1 in which stagnation-watch.wgsl sums r.
const RESIDUAL_PARTS: f32 = 65536.0;
// Up to this share of the vertices a search renews only the boxes that need it; beyond it everything is as cheap.
const PARTIAL_SHARE: f32 = 0.3;
// Rounds D(l) down: largestMove errs by a few u, the difference by one.
const MOVE_ROUNDING: f32 = 1.00001;

fn writeSlot(slot: u32, groups: vec2u) {
  stepArguments[3u * slot] = groups.x;
  stepArguments[3u * slot + 1u] = groups.y;
  stepArguments[3u * slot + 2u] = 1u;
}

fn writeArguments() {
  let isRunning = control.state == RUNNING;
  let runs = select(0u, 1u, isRunning);
  writeSlot(ONE, vec2u(runs, runs));
  writeSlot(SEARCH, vec2u(0u, 0u) + select(0u, 1u, isRunning && control.wantsSearch != NO_SEARCH));
  writeSlot(VERTICES, foldedGroups(parameters.vertexCount) * runs);
  writeSlot(PAIRS, foldedGroups(control.pairCount) * runs);
  for (var c = 0u; c < parameters.wideColours; c++) {
    writeSlot(FIRST_EDGES + c, foldedGroups(edgeColours[c + 1u] - edgeColours[c]) * runs);
  }
  for (var slot = 0u; slot < CANDIDATE_SLOTS; slot++) {
    candidateArguments[3u * slot] = 0u;
    candidateArguments[3u * slot + 1u] = 0u;
    candidateArguments[3u * slot + 2u] = 1u;
  }
}

fn clearCounters() {
  atomicStore(&control.residualBits, 0u);
  atomicStore(&control.unfinishedCount, 0u);
  atomicStore(&control.touchingCount, 0u);
  atomicStore(&control.largestMoveBits, 0u);
  atomicStore(&control.concernedCount, 0u);
  atomicStore(&control.stoppedCount, 0u);
  atomicStore(&control.starvedCount, 0u);
  atomicStore(&control.wantedCount, 0u);
  atomicStore(&control.hasMoved, 0u);
  atomicStore(&control.residualSum, 0u);
  atomicStore(&control.residualSumHigh, 0u);
  atomicStore(&control.listedCount, 0u);
  atomicStore(&control.candidateCount, 0u);
  atomicStore(&control.listTop, 0u);
  atomicStore(&control.keptCount, 0u);
  atomicStore(&control.rowCount, 0u);
  atomicStore(&control.queueTail, 0u);
  atomicStore(&control.readyCount, 0u);
  control.queueBegin = 0u;
  control.queueEnd = 0u;
  control.sweepRounds = 0u;
  control.sweepsDone = 0u;
}

// The re-search rule (guard BOXES), or D(l) < Dmin (guard RADIUS).
fn searchNext() -> u32 {
  if (parameters.hasBoxes == 0u) {
    let way = 2.0 * MOVE_ROUNDING * bitcast<f32>(atomicLoad(&control.largestMoveBits));
    control.radius = (control.radius - way) - 2.5e-7 * control.radius;
    return select(NO_SEARCH, SEARCH_ALL, control.radius < parameters.radiusMin);
  }
  let stopped = atomicLoad(&control.stoppedCount);
  let few = f32(stopped) < STOPPED_SHARE * f32(atomicLoad(&control.concernedCount));
  let isDue = atomicLoad(&control.starvedCount) > 0u || (stopped > 0u && !few);
  control.clearsStopped = select(0u, 1u, isDue);
  let isFew = f32(atomicLoad(&control.wantedCount)) <= PARTIAL_SHARE * f32(parameters.vertexCount);
  return select(NO_SEARCH, select(SEARCH_ALL, SEARCH_PART, isFew), isDue);
}

// Ends the window of steps when it is due. True = stagnated for good; a search is asked for before that.
fn judge(search: ptr<function, u32>) -> bool {
  control.windowSteps += 1u;
  if (control.windowSteps < WINDOW) {
    return false;
  }
  let high = f32(atomicLoad(&control.residualSumHigh));
  let sum = high * 4294967296.0 + f32(atomicLoad(&control.residualSum));
  let hasMoved = sum < (1.0 - FALLEN_SHARE) * control.windowSum || atomicLoad(&control.hasMoved) == 1u;
  control.windowSteps = 0u;
  control.windowSum = sum;
  if (hasMoved) {
    control.hasForcedSearch = 0u;
    return false;
  }
  if (control.hasForcedSearch == 1u) {
    return true;
  }
  control.hasForcedSearch = 1u;
  *search = SEARCH_ALL;
  return false;
}

fn pauseForSearch() {
  if (control.state == RUNNING && control.wantsSearch != NO_SEARCH && parameters.waitsForSearch == 1u) {
    control.state = NEEDS_SEARCH;
  }
}

@compute @workgroup_size(1)
fn decide() {
  if (control.state != RUNNING) {
    return;
  }
  control.steps += 1u;
  control.clock += 1u;
  control.residual = bitcast<f32>(atomicLoad(&control.residualBits));
  control.unfinished = atomicLoad(&control.unfinishedCount);
  control.touching = atomicLoad(&control.touchingCount);
  control.mostContacts = max(control.mostContacts, atomicLoad(&control.rowCount));
  var search = searchNext();
  let isDone = control.residual < parameters.epsilon;
  if (isDone) {
    control.state = CONVERGED;
  } else if (judge(&search)) {
    control.state = STALLED;
  } else if (control.steps >= parameters.stepLimit) {
    control.state = AT_STEP_LIMIT;
  }
  control.wantsSearch = search;
  clearCounters();
  pauseForSearch();
  writeArguments();
}

@compute @workgroup_size(1)
fn open() {
  // begin.wgsl counted who wants to move and who does not fit P and its boxes.
  control.unfinished = atomicLoad(&control.unfinishedCount);
  control.windowSum = RESIDUAL_PARTS * f32(control.unfinished);
  control.residual = select(0.0, 1.0, control.unfinished > 0u);
  if (parameters.hasBoxes == 0u) {
    // D from the net displacement since the search, where that is worse than what is left of it.
    let way = 2.0 * MOVE_ROUNDING * bitcast<f32>(atomicLoad(&control.largestMoveBits));
    control.radius = min(control.radius, parameters.radiusMax - way);
  }
  let fits = atomicLoad(&control.invalidCount) == 0u && control.isReused == 1u &&
    (parameters.hasBoxes == 1u || control.radius >= parameters.radiusMin);
  control.isReused = select(0u, 1u, fits && control.unfinished > 0u);
  control.wantsSearch = select(SEARCH_ALL, NO_SEARCH, control.isReused == 1u);
  if (control.unfinished == 0u) {
    control.state = CONVERGED;
  } else if (parameters.stepLimit == 0u) {
    control.state = AT_STEP_LIMIT;
  }
  control.clock += 1u;
  clearCounters();
  pauseForSearch();
  writeArguments();
}

@compute @workgroup_size(1)
fn arm() {
  clearCounters();
  writeArguments();
}

@compute @workgroup_size(1)
fn afterSearch() {
  if (control.state != RUNNING || control.wantsSearch == NO_SEARCH) {
    return;
  }
  if (control.pairDemand > control.pairCapacity) {
    control.state = NEEDS_ROOM;
  } else {
    control.pairCount = control.pairDemand;
    control.wantsSearch = NO_SEARCH;
    control.searches += 1u;
    if (parameters.hasBoxes == 0u) {
      control.radius = parameters.radiusMax;
    }
  }
  writeArguments();
}

// More candidates than there is room for: nothing of this step has moved x yet, nor will, and once there is room it goes on
// from here, its geometry measured again from the same x.
@compute @workgroup_size(1)
fn afterGeometry() {
  if (control.state != RUNNING) {
    return;
  }
  let found = atomicLoad(&control.candidateCount);
  if (found > control.candidateCapacity) {
    control.state = NEEDS_CANDIDATES;
    control.candidateDemand = found;
    writeArguments();
    return;
  }
  let folded = foldedGroups(found);
  candidateArguments[3u * CANDIDATES] = folded.x;
  candidateArguments[3u * CANDIDATES + 1u] = folded.y;
  candidateArguments[3u * CANDIDATES + 2u] = 1u;
}
