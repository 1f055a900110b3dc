// Reserves the room of each vertex's list of candidates, one thread a vertex. The place of a list depends on the order of the
// threads; nothing that is decided depends on it.
//
// In: lists.count. Out: lists.offset, control.listTop. No counterpart on the CPU.
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/append.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read_write> lists: array<ContactList>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn offsets(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  var length = 0u;
  if (i < parameters.vertexCount) {
    length = atomicLoad(&lists[i].count);
  }
  let place = reserveRoom(&control.listTop, length);
  if (length > 0u) {
    lists[i].offset = place;
  }
}
