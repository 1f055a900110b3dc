// What holds for one request; lengths in engine units. The host fills it by field name (gpu/step/parameters.ts).
struct Parameters {
  vertexCount: u32,
  // edges with a constraint, in sweep order
  edgeCount: u32,
  // colours that are swept by whole dispatches; the rest is swept by one workgroup
  wideColours: u32,
  stepLimit: u32,
  // δ
  delta: f32,
  // d_floor
  floor: f32,
  // γ
  gamma: f32,
  // ε
  epsilon: f32,
  // σ
  sigma: f32,
  // Dmin and Dmax, guard RADIUS only
  radiusMin: f32,
  radiusMax: f32,
  // a vertex this close to its target on each axis has arrived: 4 u X
  arrivedWithin: f32,
  // 1 = half-space bound, 0 = isotropic
  isPlanar: u32,
  // 1 = volume form of the contacts, 0 = gap form
  isVolume: u32,
  // 1 = guard BOXES, 0 = guard RADIUS
  hasBoxes: u32,
  skipsKinematicPairs: u32,
  // 1 = searches are run by the host: the run pauses for each
  waitsForSearch: u32,
  // more contacts than this are swept by whole dispatches first
  tailRows: u32,
  // 1 = parts have a δ of their own: by vertex behind the positions in start; the smallest and the largest there are
  hasDistances: u32,
  leastDelta: f32,
  mostDelta: f32,
}
@group(0) @binding(0) var<uniform> parameters: Parameters;

// Three, which the compiler does not know: a loop whose length it knows is written out, and every read in it stands in the
// machine code as often, which is what a software driver takes its time for (docs/method.md, cold start). Every mesh has a
// vertex.
fn axes() -> u32 {
  return 3u * min(parameters.vertexCount, 1u);
}
