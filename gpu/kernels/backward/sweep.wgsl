// Contact sweep (Eq. 9) through the queue of backward/sweep-queue.wgsl. `sweepRound`: a round of more contacts than one
// workgroup should take, as a whole dispatch. `sweepTail`: the sweep, or what these rounds left of it, in one workgroup.
// Mirrors Contacts.sweep (src/solver/cpu/contacts.ts).
// #include "backward/sweep-queue.wgsl"
// #include "backward/cold-change.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn sweepRound(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  runRound(sweepRange.round, group, groups, local);
}

// Every adapter allows this many threads; those that allow more use more (gpu/device/kernel.ts).
override SERIAL_THREADS: u32 = TAIL_THREADS;

@compute @workgroup_size(SERIAL_THREADS)
fn sweepTail(@builtin(local_invocation_index) local: u32) {
  runTail(sweepRange.round, local, SERIAL_THREADS);
}
