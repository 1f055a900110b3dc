// Rounds of the queue of a contact sweep, for kernels that bind what backward/sweep-queue.wgsl does and say what a projection does:
//
//   openPass()         reads what the projections of a sweep have in common; called once before them
//   project(n, next)   runs the contact at this place of the queue; the first sweep of a step queues those that waited for nothing else
//
// The queue has the contacts round by round: a round's wait for contacts of the rounds before and for none of their own, so that its threads
// may come in any order. Which round a contact belongs to follows from the places alone. The first sweep of a step finds the rounds, a contact
// entering the next one when the last that it waits for has run; later sweeps take the queue as it stands.
// The round after the one that runs.
struct NextRound {
  // the step's first sweep is finding it
  isSought: bool,
  // its number, and its first place in the queue
  round: u32,
  begin: u32,
}

fn nextRound(round: u32, begin: u32) -> NextRound {
  return NextRound(control.sweepsDone == 0u, round, begin);
}

// How many contacts a round has; final once the round before has run.
fn contactsOf(round: u32) -> u32 {
  if (round == 0u) {
    return atomicLoad(&control.readyCount);
  }
  // There are no more rounds than rows, and no more contacts in a round: also where a driver computes something else, the sweep ends.
  let rows = atomicLoad(&control.rowCount);
  var count = 0u;
  if (round < rows) {
    count = min(rows, atomicLoad(&contacts[countAt(round)]));
  }
  return count;
}

// First place of a round in the queue. There are two words, because the round that runs reads one and writes the other.
fn beginOf(round: u32) -> u32 {
  return select(control.evenBegin, control.oddBegin, (round & 1u) == 1u);
}

fn setBegin(round: u32, begin: u32) {
  if ((round & 1u) == 1u) {
    control.oddBegin = begin;
  } else {
    control.evenBegin = begin;
  }
}

fn isDense() -> bool {
  return atomicLoad(&control.rowCount) > parameters.tailRows;
}

// A round as a whole dispatch, of any number of workgroups. The host does not know whether it runs: nothing happens where the run has ended
// or paused.
fn runRound(round: u32, group: vec3u, groups: vec3u, local: u32) {
  openPass();
  let first = linearIndex(group, groups, local);
  let begin = beginOf(round);
  let count = select(0u, contactsOf(round), control.state == RUNNING);
  if (first == 0u) {
    setBegin(round + 1u, begin + count);
    let isWide = isDense() && count > parameters.roundRows;
    let wideBefore = select(control.wideRounds, 0u, round == 0u && control.sweepsDone == 0u);
    control.wideRounds = select(wideBefore, round + 1u, isWide);
  }
  let next = nextRound(round + 1u, begin + count);
  let stride = WORKGROUP_SIZE * groups.x * groups.y;
  for (var n = first; n < count; n += stride) {
    project(begin + n, next);
  }
}

// How many contacts the round has, for all threads alike.
var<workgroup> roundSize: u32;

// The sweep from this round on, in one workgroup of so many threads, round by round.
fn runRounds(firstRound: u32, local: u32, threads: u32) {
  openPass();
  var round = firstRound;
  var begin = beginOf(firstRound);
  var turns = 0u;
  let isFirst = control.sweepsDone == 0u && firstRound == 0u;
  let hasWide = isDense();
  var wide = 0u;
  loop {
    if (local == 0u) {
      roundSize = contactsOf(round);
    }
    // Also a barrier: no thread adds to the next round before all have read how long this one is.
    let count = workgroupUniformLoad(&roundSize);
    if (count == 0u) {
      break;
    }
    if (hasWide && count > parameters.roundRows) {
      wide = round + 1u;
    }
    turns += (count + threads - 1u) / threads;
    let next = nextRound(round + 1u, begin + count);
    for (var n = local; n < count; n += threads) {
      project(begin + n, next);
    }
    begin += count;
    round++;
    // The next round sees what this one wrote. Every barrier costs as much to compile as a kernel.
    storageBarrier();
  }
  if (local == 0u) {
    control.mostRounds = max(control.mostRounds, round);
    control.wideRounds = max(select(control.wideRounds, 0u, isFirst), wide);
    control.mostTurns = max(control.mostTurns, turns);
    control.evenBegin = 0u;
    control.sweepsDone += 1u;
  }
}
