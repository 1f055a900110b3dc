// Rounds of the queue of a contact sweep, for kernels that bind what backward/sweep-queue.wgsl does and say what a projection does:
//
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
