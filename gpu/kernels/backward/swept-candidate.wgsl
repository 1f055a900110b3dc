// The words of struct Candidate in fours, for kernels that bind `candidates` as array<vec4u>: one read instead of four.

fn weightOf(c: u32) -> vec4f {
  return bitcast<vec4f>(candidates[4u * c]);
}

fn massesOf(c: u32) -> vec4f {
  return bitcast<vec4f>(candidates[4u * c + 1u]);
}

// entry, bits of the distance, isUnique, place
fn aboutOf(c: u32) -> vec4u {
  return candidates[4u * c + 2u];
}

// λ, K, c(x), λ before
fn stateOf(c: u32) -> vec4f {
  return bitcast<vec4f>(candidates[4u * c + 3u]);
}

fn setState(c: u32, state: vec4f) {
  candidates[4u * c + 3u] = bitcast<vec4u>(state);
}
