// The order of the contact sweep, one thread a row. Contacts that share a movable vertex run one after the other, in the order
// of their places: at each of its vertices a contact waits for its predecessor and is followed by its successor. With both
// known once a step, a sweep visits every contact once, when its turn has come.
//
//   listRows   the rows at each movable vertex, in any order; no round has contacts yet
//   linkRows   the successor of a row at each of its vertices, how many rows it waits for, and the queue of those that
//              wait for none, the first round of the sweep
//
// In: contacts (row), pairVertex, candidates. Out: lists.rows; contacts: rowsAt, followers, waits, queue, counts; control. See
// backward/sweep.wgsl.
// #include "common/dispatch.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(3) var<storage, read> candidates: array<Candidate>;
@group(0) @binding(4) var<storage, read_write> lists: array<ContactList>;
@group(0) @binding(5) var<storage, read_write> contacts: array<u32>;
// #include "backward/contact-words.wgsl"
// #include "backward/links-of-row.wgsl"
// #include "common/append.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn listRows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n >= atomicLoad(&control.rowCount)) {
    return;
  }
  listRow(n);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn linkRows(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  var c = 0u;
  var isReady = false;
  if (n < atomicLoad(&control.rowCount)) {
    c = contacts[rowAt(n)];
    isReady = link(c) == 0u;
  }
  let place = reserve(&control.readyCount, isReady);
  if (isReady) {
    contacts[queueAt(place)] = c;
  }
}
