// For kernels that bind what control/arguments.wgsl does. By one thread, after the geometry of a step:
//
// More candidates than there is room for, or than the recorded sweep is made for: this step has not moved x, and does
// not move it. Once there is room it continues from here, with its geometry measured again from the same x. Returns
// whether it goes on.
fn takeCandidates() -> bool {
  let isRunning = control.state == RUNNING;
  let found = atomicLoad(&control.candidateCount);
  let hasRoom = found <= control.candidateCapacity;
  let isShort = isRunning && !hasRoom;
  // With so many, one workgroup would sweep for long.
  let isCovered = found <= parameters.coveredCandidates;
  let goesOn = isRunning && hasRoom && isCovered;
  control.state = select(select(control.state, NEEDS_CANDIDATES, isShort), NEEDS_ROUNDS, isRunning && hasRoom && !isCovered);
  control.candidateDemand = select(control.candidateDemand, found, isRunning && !goesOn);
  // Where it goes on the steps' sizes are what they were.
  writeArguments();
  let size = foldThreads(found).xy * select(0u, 1u, goesOn);
  candidateArguments[3u * LIST_SLOT_CANDIDATES] = size.x;
  candidateArguments[3u * LIST_SLOT_CANDIDATES + 1u] = size.y;
  return goesOn;
}
