// Dispatches of more than 65,535 workgroups are folded into two dimensions (gpu/search/groups.ts does the same).
const MOST_GROUPS: u32 = 65535u;

// Dispatch size for `groups` workgroups, at least that many; (0, 1, 1) for none.
fn foldGroups(groups: u32) -> vec3u {
  if (groups <= MOST_GROUPS) {
    return vec3u(groups, 1u, 1u);
  }
  let rows = (groups + MOST_GROUPS - 1u) / MOST_GROUPS;
  return vec3u((groups + rows - 1u) / rows, rows, 1u);
}

// Number of a workgroup in a folded dispatch; the last row may run past the end.
fn foldedGroup(workgroup: vec3u, dispatched: vec3u) -> u32 {
  return workgroup.y * dispatched.x + workgroup.x;
}

// Rounded up; no sum that could wrap
fn groupsFor(count: u32, size: u32) -> u32 {
  return count / size + select(0u, 1u, count % size != 0u);
}
