// Positions of a pair's slots; unused ones repeat slot 0.
struct Corners {
  p0: vec3f,
  p1: vec3f,
  p2: vec3f,
  p3: vec3f,
}
