// For the kernels of one thread that decide what comes next: the sizes of the next dispatches, all zero when nothing is to run, and
// the counters that a step begins with.
//
// Nothing here is behind a branch: unconditional reads and writes of one thread are cheap for a software driver to compile,
// conditional ones cost several times as much.
fn writeSlot(slot: u32, groups: vec2u) {
  stepArguments[3u * slot] = groups.x;
  stepArguments[3u * slot + 1u] = groups.y;
  stepArguments[3u * slot + 2u] = 1u;
}

fn writeArguments() {
  let isRunning = control.state == RUNNING;
  let runs = select(0u, 1u, isRunning);
  writeSlot(STEP_SLOT_ONE, vec2u(runs, runs));
  writeSlot(STEP_SLOT_SEARCH, vec2u(0u, 0u) + select(0u, 1u, isRunning && control.wantsSearch != SEARCH_NONE));
  writeSlot(STEP_SLOT_VERTICES, foldThreads(parameters.vertexCount).xy * runs);
  writeSlot(STEP_SLOT_AIMS, foldThreads(parameters.vertexCount).xy * runs);
  writeSlot(STEP_SLOT_PAIRS, foldThreads(control.pairCount).xy * runs);
  writeSlot(STEP_SLOT_EDGES, foldThreads(parameters.edgeCount).xy * runs);
  let terms = max(parameters.vertexCount, parameters.edgeCount);
  writeSlot(STEP_SLOT_OPENING, foldThreads(terms).xy * runs);
  writeSlot(STEP_SLOT_SUMS, foldGroups(min(SUM_GROUPS, groupsFor(terms, WORKGROUP_SIZE))).xy * runs);
  for (var c = 0u; c < parameters.wideColours; c++) {
    writeSlot(STEP_SLOT_FIRST_EDGES + c, foldThreads(edgeColours[c + 1u] - edgeColours[c]).xy * runs);
  }
  for (var slot = 0u; slot < LIST_SLOT_COUNT; slot++) {
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
  atomicStore(&control.relevantCount, 0u);
  atomicStore(&control.stoppedCount, 0u);
  atomicStore(&control.starvedCount, 0u);
  atomicStore(&control.wantedCount, 0u);
  atomicStore(&control.hasMoved, 0u);
  atomicStore(&control.lateCount, 0u);
  atomicStore(&control.shortCount, 0u);
  atomicStore(&control.movingCount, 0u);
  atomicStore(&control.heldCount, 0u);
  atomicStore(&control.jammedCount, 0u);
  atomicStore(&control.leftCount, 0u);
  atomicStore(&control.boxLoss, 0u);
  atomicStore(&control.residualSum, 0u);
  atomicStore(&control.residualSumHigh, 0u);
  atomicStore(&control.listedCount, 0u);
  atomicStore(&control.activeCount, 0u);
  atomicStore(&control.candidateCount, 0u);
  atomicStore(&control.listTop, 0u);
  atomicStore(&control.keptCount, 0u);
  atomicStore(&control.rowCount, 0u);
  atomicStore(&control.readyCount, 0u);
  control.evenBegin = 0u;
  control.sweepsDone = 0u;
  control.leastExcess = UNLIMITED;
  control.bestRound = 0u;
}

// The re-search rule of guard BOXES: enough of the relevant vertices are stopped, or one of them has been for long.
fn isSearchDue() -> bool {
  let stopped = atomicLoad(&control.stoppedCount);
  let few = f32(stopped) < STOPPED_SHARE * f32(atomicLoad(&control.relevantCount));
  return atomicLoad(&control.starvedCount) > 0u || (stopped > 0u && !few);
}

// Where the host searches, or records no search before the next step, a run that wants a search pauses for it.
fn pausedForSearch(state: u32, search: u32, isStep: bool) -> u32 {
  let waits = parameters.waitsForSearch == 1u || (isStep && parameters.watchesSearch == 1u);
  let pauses = state == RUNNING && search != SEARCH_NONE && waits;
  return select(state, NEEDS_SEARCH, pauses);
}
