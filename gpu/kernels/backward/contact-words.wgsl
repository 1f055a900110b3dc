// Layout of `contacts`, u32[16C], C = control.candidateCapacity. A candidate is named by its number.
//
//   list       4C  candidates of the vertices, one list after the other (lists[v].offset and .count), in no order; while a step
//              of the pull-back colours
//                  its contacts, how many have each colour, and C words later where these begin in the queue
//   keys       4C  beside each entry of list its key, until the contacts are chosen; then four followers of each candidate, in the
//                  pull-back its colour in the place of the first of them once it has one
//   rowsAt     4C  rows of the vertices, in the room of their lists
//   waits       C  of each row: how many it waits for in the upper half, how many of those have run in the pass that finds the
//                  rounds in the lower one; then, in the pull-back, its place among the rows of its colour
//   queue       C  candidates that are kept, until they are rows; then the sweep's queue, round by round
//   row         C  candidates that are rows
//   counts      C  contacts of each round after the first, whose number is control.readyCount
const WAITS_SHIFT: u32 = 16u;
const NO_FOLLOWER: u32 = 0xffffffffu;

fn keyAt(place: u32) -> u32 {
  return 4u * control.candidateCapacity + place;
}

fn followerAt(candidate: u32, slot: u32) -> u32 {
  return 4u * control.candidateCapacity + 4u * candidate + slot;
}

fn rowsAt(place: u32) -> u32 {
  return 8u * control.candidateCapacity + place;
}

fn waitsAt(candidate: u32) -> u32 {
  return 12u * control.candidateCapacity + candidate;
}

fn queueAt(n: u32) -> u32 {
  return 13u * control.candidateCapacity + n;
}

fn rowAt(n: u32) -> u32 {
  return 14u * control.candidateCapacity + n;
}

fn countAt(round: u32) -> u32 {
  return 15u * control.candidateCapacity + round;
}
