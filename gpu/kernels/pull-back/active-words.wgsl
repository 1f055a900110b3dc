// Layout of `activeVertices`: the number of active vertices (few/sweeps.wgsl), a mark for each vertex, the active
// vertices, and a term of a sum for each vertex.
fn markWords() -> u32 {
  return groupsFor(parameters.vertexCount, MARKS_PER_WORD);
}

fn markOf(v: u32) -> u32 {
  return 1u + v / MARKS_PER_WORD;
}

fn memberAt(n: u32) -> u32 {
  return 1u + markWords() + n;
}

fn termAt(v: u32) -> u32 {
  return 1u + markWords() + parameters.vertexCount + v;
}
