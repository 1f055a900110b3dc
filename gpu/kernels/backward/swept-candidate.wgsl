// The words of struct Candidate in fours: one read instead of four.
struct SweptCandidate {
  weight: vec4f,
  masses: vec4f,
  // entry, bits of the distance, isUnique, place
  about: vec4u,
  // λ, K, c(x), λ before
  state: vec4f,
}
