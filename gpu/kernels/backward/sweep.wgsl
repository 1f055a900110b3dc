// Contact sweep (Eq. 9) through the queue of backward/sweep-queue.wgsl. `sweepRound`, one thread a contact of the queue: a round of
// more contacts than one workgroup should take; openRound (control/plan-lists.wgsl) precedes it. `sweepTail`: the sweep, or
// what the rounds left of it, in one workgroup. Mirrors Contacts.sweep (src/solver/cpu/contacts.ts).
// #include "backward/sweep-queue.wgsl"

// Δλ = max(0, λ − s/K) − λ
fn changeOf(c: u32, state: vec4f, value: f32) -> f32 {
  let old = state.x;
  let lambda = max(0.0, old - value / state.y);
  let change = lambda - old;
  if (change != 0.0) {
    candidates[c].state.x = lambda;
  }
  return change;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn sweepRound(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  runRound(group, groups, local);
}

@compute @workgroup_size(TAIL_THREADS)
fn sweepTail(@builtin(local_invocation_index) local: u32) {
  runTail(local);
}
