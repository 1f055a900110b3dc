// Room for each vertex's list of candidates, one thread a vertex, and the sizes of the dispatches over candidates.
// Which list lies where depends on the order of the threads; nothing asks for it.
//
// In: lists.count, control.candidateCount. Out: lists.offset, candidateArguments.
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/control.wgsl"
// #include "common/pair.wgsl"
// #include "common/slots.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read_write> lists: array<ContactList>;
@group(0) @binding(3) var<storage, read_write> candidateArguments: array<u32>;

@compute @workgroup_size(64)
fn offsets(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i == 0u) {
    let candidates = atomicLoad(&control.candidateCount);
    let folded = foldedGroups(candidates);
    candidateArguments[3u * CANDIDATES] = folded.x;
    candidateArguments[3u * CANDIDATES + 1u] = folded.y;
    candidateArguments[3u * CANDIDATES + 2u] = 1u;
  }
  if (i >= parameters.vertexCount) {
    return;
  }
  let length = atomicLoad(&lists[i].count);
  if (length > 0u) {
    lists[i].offset = atomicAdd(&control.listTop, length);
  }
}
