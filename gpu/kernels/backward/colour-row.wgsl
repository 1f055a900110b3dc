// One pass of the colouring of the contacts over one row, for kernels that bind what backward/contacts-links.wgsl does. All rows pick before one settles.
// Each word that a thread writes in one of the two is read by others only in the other one. Mirrors preferColours (src/solver/colouring.ts).

const NO_COLOUR: u32 = 32u;
// Standing of a candidate that has colour 0 (struct Candidate).
const FIRST_COLOUR: u32 = 2u;

fn pickColour(c: u32) {
  if (candidates[c].standing >= FIRST_COLOUR) {
    return;
  }
  let ids = pairVertex[pairOf(candidates[c].entry)];
  let masses = candidates[c].masses;
  let place = candidates[c].place;
  var used = 0u;
  var rank = 0u;
  var most = 0u;
  for (var s = 0u; s < 4u; s++) {
    if (masses[s] > 0.0) {
      let count = atomicLoad(&lists[ids[s]].rows);
      let first = rowsAt(lists[ids[s]].offset);
      var ahead = 0u;
      for (var k = first; k < first + count; k++) {
        let other = contacts[k];
        let standing = candidates[other].standing;
        if (standing >= FIRST_COLOUR) {
          used |= 1u << (standing - FIRST_COLOUR);
        } else if (candidates[other].place < place) {
          ahead++;
        }
      }
      rank = max(rank, ahead);
      most = max(most, count);
    }
  }
  var free = ~used & (0xffffffffu >> (NO_COLOUR - min(NO_COLOUR, most + SPARE_COLOURS)));
  let count = countOneBits(free);
  var pick = NO_COLOUR;
  if (count > 0u) {
    for (var k = rank % count; k > 0u; k--) {
      free &= free - 1u;
    }
    pick = firstTrailingBit(free);
  }
  contacts[pickAt(c)] = pick;
}

fn settleColour(c: u32) {
  let pick = contacts[pickAt(c)];
  if (candidates[c].standing >= FIRST_COLOUR || pick == NO_COLOUR) {
    return;
  }
  let ids = pairVertex[pairOf(candidates[c].entry)];
  let masses = candidates[c].masses;
  let place = candidates[c].place;
  var isTaken = false;
  for (var s = 0u; s < 4u; s++) {
    if (masses[s] > 0.0) {
      let first = rowsAt(lists[ids[s]].offset);
      let end = first + atomicLoad(&lists[ids[s]].rows);
      for (var k = first; k < end; k++) {
        let other = contacts[k];
        // The pick of a row that has its colour is that colour, which was not free to this one.
        isTaken = isTaken || (contacts[pickAt(other)] == pick && candidates[other].place < place);
      }
    }
  }
  if (!isTaken) {
    candidates[c].standing = FIRST_COLOUR + pick;
  }
}
