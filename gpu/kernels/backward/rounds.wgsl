// Rounds of the queue of the contacts of a step, for kernels that have the bindings of backward/queue-bindings.wgsl and
// say what is done to a contact:
//
//   openPass()         reads what the projections of a pass have in common; called once before them
//   project(n, next)   runs the contact at this place of the queue, and queues those that waited for nothing else if rounds are
//                      sought
//   seeksRounds()      whether this pass finds the rounds
//
// The queue has the contacts round by round: a round's wait for contacts of the rounds before and for none of their own, so
// that its threads may come in any order. A pass that seeks rounds finds them, a contact entering the next one when the last
// that it waits for has run; other passes take the queue as it stands.
// The round after the one that runs.
struct NextRound {
  // the pass is finding it
  isSought: bool,
  // its number, and its first place in the queue
  round: u32,
  begin: u32,
}

// What the last of the rounds of a pass leaves.
struct Passed {
  rounds: u32,
  turns: u32,
  // number of the last round, counted from 1, that whole dispatches should take; 0 = none
  wide: u32,
}

fn nextRound(round: u32, begin: u32) -> NextRound {
  return NextRound(seeksRounds(), round, begin);
}

// How many contacts a round has; final once the round before has run.
fn contactsOf(round: u32) -> u32 {
  if (round == 0u) {
    return atomicLoad(&control.readyCount);
  }
  // There are no more rounds than rows, and no more contacts in a round: also where a driver computes something else, the pass
  // ends.
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

// Whether whole dispatches should take rounds of many contacts.
fn isDense() -> bool {
  return atomicLoad(&control.rowCount) > parameters.tailRows;
}

// A round as a whole dispatch, of any number of workgroups. The host does not know whether it runs: nothing happens where the
// run has ended or paused. Returns whether it has so many contacts that it should be one.
fn passRound(round: u32, first: u32, stride: u32) -> bool {
  openPass();
  let begin = beginOf(round);
  let count = select(0u, contactsOf(round), control.state == RUNNING);
  if (first == 0u) {
    setBegin(round + 1u, begin + count);
  }
  let next = nextRound(round + 1u, begin + count);
  for (var n = first; n < count; n += stride) {
    project(begin + n, next);
  }
  return isDense() && count > parameters.roundRows;
}

// How many contacts the round has, for all threads alike.
var<workgroup> roundSize: u32;

// The pass from this round on, in one workgroup of so many threads, round by round.
fn passRounds(firstRound: u32, local: u32, threads: u32) -> Passed {
  openPass();
  var round = firstRound;
  var begin = beginOf(firstRound);
  var turns = 0u;
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
  return Passed(round, turns, wide);
}
