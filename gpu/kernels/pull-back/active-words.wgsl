// Where what lies in `activeVertices`: how many vertices are active (few/sweeps.wgsl), a mark a vertex, which they are, and a term of a sum a vertex.
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
