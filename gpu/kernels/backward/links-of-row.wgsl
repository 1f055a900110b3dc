// The work of backward/contacts-links.wgsl on one row, for kernels with the same bindings.

// The n-th row enters the lists of its movable vertices.
fn listRow(n: u32) {
  // There are no more rounds than rows.
  contacts[countAt(n)] = 0u;
  let c = contacts[rowAt(n)];
  let entry = candidates[c].entry;
  let ids = pairVertex[pairOf(entry)];
  let masses = candidates[c].masses;
  for (var s = 0u; s < cornersOf(kindOf(entry)); s++) {
    if (masses[s] > 0.0) {
      // There is room: a row is in the vertex's list of candidates. Never more than CONTACTS_PER_VERTEX, too:
      // backward/contacts-select.wgsl saw to it at every movable vertex.
      let place = atomicAdd(&lists[ids[s]].rows, 1u);
      contacts[rowsAt(lists[ids[s]].offset + place)] = c;
    }
  }
}

// Links a row with its neighbours in the order. Returns how many rows it waits for.
fn link(c: u32) -> u32 {
  let ids = pairVertex[pairOf(candidates[c].entry)];
  let masses = candidates[c].masses;
  let place = candidates[c].place;
  var waits = 0u;
  for (var s = 0u; s < 4u; s++) {
    var follower = NO_FOLLOWER;
    var nearest = 0xffffffffu;
    var isLater = false;
    if (masses[s] > 0.0) {
      let first = rowsAt(lists[ids[s]].offset);
      let end = first + atomicLoad(&lists[ids[s]].rows);
      for (var k = first; k < end; k++) {
        let other = contacts[k];
        let otherPlace = candidates[other].place;
        isLater = isLater || otherPlace < place;
        if (otherPlace > place && otherPlace <= nearest) {
          nearest = otherPlace;
          follower = other;
        }
      }
    }
    contacts[followerAt(c, s)] = follower;
    waits += select(0u, 1u, isLater);
  }
  contacts[waitsAt(c)] = waits << WAITS_SHIFT;
  return waits;
}
