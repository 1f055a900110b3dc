// Threads of a dispatch that is folded to two dimensions, in one row: group size 64 everywhere but in kernels of one group.
const GROUP: u32 = 64u;
// Groups in the first dimension of a folded dispatch; every implementation allows 65,535.
const FOLD: u32 = 32768u;

fn linearIndex(group: vec3u, groups: vec3u, local: u32) -> u32 {
  return (group.y * groups.x + group.x) * GROUP + local;
}

// Groups in x and y for so many threads; the host's counterpart is foldGroups in gpu/step/dispatch.ts.
fn foldedGroups(threads: u32) -> vec2u {
  let groups = (threads + GROUP - 1u) / GROUP;
  if (groups <= FOLD) {
    return vec2u(groups, select(1u, 0u, groups == 0u));
  }
  return vec2u(FOLD, (groups + FOLD - 1u) / FOLD);
}
