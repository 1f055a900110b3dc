// Passes that shorten steps, in one workgroup, through the colours upward and downward in turn, until one changes
// nothing. The members of each colour lie in a list behind the numbers of all colours; afterwards the lists are empty.
// The kernel that includes it says what a pass does, and where:
//
//   shorten(e)              shortens a step, or none; says so by atomicStore(&changes, 1u)
//   firstOfColour(colour)   the place of a colour's list behind those numbers
//   heldAt(n)               the number, or the member of a list, at this place
//   emptyHeld(colour)       sets the number of a colour to 0

// 1 = the pass has shortened a step.
var<workgroup> changes: atomic<u32>;
var<workgroup> goesOn: u32;

fn shortenAll(colours: u32, local: u32) {
  for (var round = 0u; round < HOLD_BACK_PASSES; round++) {
    if (local == 0u) {
      atomicStore(&changes, 0u);
    }
    for (var k = 0u; k < colours; k++) {
      workgroupBarrier();
      storageBarrier();
      let colour = select(colours - 1u - k, k, round % 2u == 0u);
      let count = heldAt(colour);
      let first = colours + firstOfColour(colour);
      for (var n = local; n < count; n += TAIL_THREADS) {
        shorten(heldAt(first + n));
      }
    }
    workgroupBarrier();
    if (local == 0u) {
      goesOn = atomicLoad(&changes);
    }
    if (workgroupUniformLoad(&goesOn) == 0u) {
      break;
    }
  }
  for (var colour = local; colour < colours; colour += TAIL_THREADS) {
    emptyHeld(colour);
  }
}
