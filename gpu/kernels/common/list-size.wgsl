// For kernels that make a list of pairs and bind candidateArguments as atomics: the size of the dispatches over the
// list, a thread an entry. It grows with the list, so that no thread has to run after all others.
// control/arguments.wgsl sets it to none.

// The thread that takes the first place of a workgroup adds that workgroup to the size; every place below the end of
// the list is taken.
fn coverPlace(slot: u32, place: u32) {
  if (place % WORKGROUP_SIZE == 0u) {
    let groups = place / WORKGROUP_SIZE + 1u;
    // Rows of MAX_GROUPS workgroups, of which the last may run past the end (common/dispatch.wgsl).
    atomicMax(&candidateArguments[3u * slot], min(groups, MAX_GROUPS));
    atomicMax(&candidateArguments[3u * slot + 1u], groupsFor(groups, MAX_GROUPS));
  }
}
