// Dispatches of more workgroups than one dimension holds are folded to two; gpu/device/dispatch.ts folds by the same rule.

// Size of a dispatch of at least `groups` workgroups; (0, 1, 1) for none.
fn foldGroups(groups: u32) -> vec3u {
  let rows = max(1u, (groups + MAX_GROUPS - 1u) / MAX_GROUPS);
  return vec3u((groups + rows - 1u) / rows, rows, 1u);
}

// Size of a dispatch with a thread per element.
fn foldThreads(threads: u32) -> vec3u {
  return foldGroups(groupsFor(threads, WORKGROUP_SIZE));
}

// count / size, rounded up, without a sum that could wrap.
fn groupsFor(count: u32, size: u32) -> u32 {
  return count / size + select(0u, 1u, count % size != 0u);
}

// Number of a workgroup in a folded dispatch; the last row may run past the end.
fn foldedGroup(group: vec3u, groups: vec3u) -> u32 {
  return group.y * groups.x + group.x;
}

// Number of a thread in a folded dispatch, which is that of its element.
fn linearIndex(group: vec3u, groups: vec3u, local: u32) -> u32 {
  return foldedGroup(group, groups) * WORKGROUP_SIZE + local;
}
