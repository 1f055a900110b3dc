// Contact sweep of the pull-back through the queue of backward/sweep-queue.wgsl, in whole rounds (`warmRound`) and in one workgroup
// (`warmTail`), as backward/sweep.wgsl has them. Pass 0 of a step moves y by the multipliers that the step begins with; every
// later pass is a sweep that begins with extrapolated multipliers (pull-back/momentum.wgsl):
//
//   λ̂ = λ + β (λ − λ_before),   Δλ = max(0, λ̂ − s/K) − λ̂
//
// y was extrapolated by the same β, and is linear in λ, so that it has J λ̂ in it already. λ̂ may be negative; the projection
// is not. Every row runs in every pass: the order of the queue is made of all of them. Mirrors sweepContacts and
// extrapolateLambdas (src/solver/cpu/sweep-rows.ts, momentum.ts).
// #include "backward/sweep-queue.wgsl"
// #include "pull-back/warm-change.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn warmRound(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  runRound(sweepRange.round, group, groups, local);
}

// Every adapter allows this many threads; those that allow more use more (gpu/device/kernel.ts).
override SERIAL_THREADS: u32 = TAIL_THREADS;

@compute @workgroup_size(SERIAL_THREADS)
fn warmTail(@builtin(local_invocation_index) local: u32) {
  runTail(sweepRange.round, local, SERIAL_THREADS);
}
