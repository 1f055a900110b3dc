// Positions of a pair's slots. Unused slots repeat slot 0 or are 0; nothing reads them.
struct Corners {
  p0: vec3f,
  p1: vec3f,
  p2: vec3f,
  p3: vec3f,
}

fn withCorner(p: Corners, s: u32, at: vec3f) -> Corners {
  return Corners(
    select(p.p0, at, s == 0u),
    select(p.p1, at, s == 1u),
    select(p.p2, at, s == 2u),
    select(p.p3, at, s == 3u),
  );
}
