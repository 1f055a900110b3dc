// Who waits for whom in the contact sweep, one thread a row. Contacts that share a movable vertex run one after the other,
// in the order of their places: at each of its vertices a contact waits for the one before it there, and is followed by
// the one after it. With that known once a step, a sweep looks at every contact once, when its turn has come.
//
//   listRows   the rows at each movable vertex, in any order
//   linkRows   at each vertex of a row the one that follows it, how many it waits for, and the queue of those that wait
//              for none
//
// In: rows' first third, pairVertex, pairWork.slots. Out: chosen, lists.rows; links, rows' second third, control. See
// common/sweep-row.wgsl.
// #include "common/dispatch.wgsl"
// #include "common/control.wgsl"
// #include "common/pair.wgsl"
// #include "common/row-index.wgsl"
// #include "common/rng.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(3) var<storage, read> pairWork: array<PairWork>;
@group(0) @binding(4) var<storage, read_write> lists: array<ContactList>;
@group(0) @binding(5) var<storage, read_write> rows: array<u32>;
// u32[24V] rows of the vertices
@group(0) @binding(6) var<storage, read_write> chosen: array<u32>;
// u32[5P] followers of each pair at its four slots; then, for each pair, what it waits for (see WAITS_SHIFT)
@group(0) @binding(7) var<storage, read_write> links: array<u32>;

@compute @workgroup_size(64)
fn listRows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n >= atomicLoad(&control.rowCount)) {
    return;
  }
  let entry = rows[n];
  let p = entry & INDEX_MASK;
  let ids = pairVertex[p];
  let masses = pairWork[p].slots;
  for (var s = 0u; s < 4u; s++) {
    if (masses[s] > 0.0) {
      // Never more than CONTACTS_PER_VERTEX: contacts-select.wgsl saw to it at every movable vertex.
      let place = atomicAdd(&lists[ids[s]].rows, 1u);
      chosen[CONTACTS_PER_VERTEX * u32(ids[s]) + min(place, CONTACTS_PER_VERTEX - 1u)] = entry;
    }
  }
}

@compute @workgroup_size(64)
fn linkRows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n >= atomicLoad(&control.rowCount)) {
    return;
  }
  let entry = rows[n];
  let p = entry & INDEX_MASK;
  let ids = pairVertex[p];
  let masses = pairWork[p].slots;
  let place = placeOf(p, control.pairCount, control.clock);
  var waits = 0u;
  for (var s = 0u; s < 4u; s++) {
    var follower = NO_ENTRY;
    var nearest = 0xffffffffu;
    var isLater = false;
    if (masses[s] > 0.0) {
      let first = CONTACTS_PER_VERTEX * u32(ids[s]);
      let end = first + min(atomicLoad(&lists[ids[s]].rows), CONTACTS_PER_VERTEX);
      for (var k = first; k < end; k++) {
        let other = chosen[k];
        let otherPlace = placeOf(other & INDEX_MASK, control.pairCount, control.clock);
        isLater = isLater || otherPlace < place;
        if (otherPlace > place && otherPlace <= nearest) {
          nearest = otherPlace;
          follower = other;
        }
      }
    }
    links[4u * p + s] = follower;
    waits += select(0u, 1u, isLater);
  }
  links[4u * control.pairCapacity + p] = waits << WAITS_SHIFT;
  if (waits == 0u) {
    atomicAdd(&control.readyCount, 1u);
    rows[control.pairCapacity + atomicAdd(&control.queueTail, 1u)] = entry;
  }
}
