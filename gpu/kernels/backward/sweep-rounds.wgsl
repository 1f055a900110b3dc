// The passes of backward/rounds.wgsl that are sweeps, for the two versions of run-queue.wgsl.
// #include "backward/rounds.wgsl"

// A round of a sweep as a whole dispatch.
fn runRound(round: u32, group: vec3u, groups: vec3u, local: u32) {
  let first = linearIndex(group, groups, local);
  let isWide = passRound(round, first, WORKGROUP_SIZE * groups.x * groups.y);
  if (first == 0u) {
    let wideBefore = select(control.wideRounds, 0u, round == 0u && control.sweepsDone == 0u);
    control.wideRounds = select(wideBefore, round + 1u, isWide);
  }
}

// The sweep from this round on, in one workgroup of so many threads, round by round.
fn runRounds(firstRound: u32, local: u32, threads: u32) {
  let isFirst = control.sweepsDone == 0u && firstRound == 0u;
  let passed = passRounds(firstRound, local, threads);
  if (local == 0u) {
    control.mostRounds = max(control.mostRounds, passed.rounds);
    control.wideRounds = max(select(control.wideRounds, 0u, isFirst), passed.wide);
    control.mostTurns = max(control.mostTurns, passed.turns);
    control.evenBegin = 0u;
    control.sweepsDone += 1u;
  }
}
