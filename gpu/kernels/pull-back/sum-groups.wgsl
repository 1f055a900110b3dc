// Workgroups of a sum over vertices or edges; each leaves one part.
fn sumGroups() -> u32 {
  return min(SUM_GROUPS, groupsFor(max(parameters.vertexCount, parameters.edgeCount), WORKGROUP_SIZE));
}
