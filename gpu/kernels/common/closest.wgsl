// Closest points of two elements in float32 (mirrors src/solver/cpu/closest.ts; Ericson, Real-Time Collision Detection 5.1).
//
// Answers are guidance: weights, a candidate normal, an upper bound of the distance. Safety rests on signed heights
// along whatever normal comes out. Coordinates are differenced before anything is multiplied. Every denominator is
// tested before it divides, degenerate elements are treated as elements of a lower dimension, and of all candidates the
// smallest wins in a fixed order: no threshold decides what is parallel or flat.
//
// An interior solution is refined once by its own residual: the first one is off by about u times the elements' aspect
// ratio, the residual is good to u times their size, so the second is too unless the ratio itself comes near 1 / u.

struct Closest {
  // of the four slots, side a first; each side sums to 1 to a few u, none is negative, unused slots weigh 0
  weight: vec4f,
  // p - q: from the closest point of side b to that of side a
  difference: vec3f,
  // of the difference times the power of two by which closestInTurns scales coordinates: 1 below 2^30
  squared: f32,
}

// A denominator below this is not used: WGSL guarantees no quotient near the subnormals. Squares of lengths in engine
// units, where the median edge is about 1: elements under 1e-15 are points.
const CLOSEST_TINY: f32 = 1e-30;

// Interior solutions of elements whose sine is under the root of this take the difference of the weighted points: their
// cross product is rounding. Above it the height along the cross product has the better direction.
const CLOSEST_THIN: f32 = 1e-6;

fn dot3(a: vec3f, b: vec3f) -> f32 {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

fn cross3(a: vec3f, b: vec3f) -> vec3f {
  return vec3f(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

fn closestOf(weight: vec4f, difference: vec3f) -> Closest {
  return Closest(weight, difference, dot3(difference, difference));
}

// Vertex a against segment i j, slots [a | i j]
fn closestVertexEdge(a: vec3f, i: vec3f, j: vec3f) -> Closest {
  let p = a - i;
  let u = j - i;
  let uu = dot3(u, u);
  let pu = dot3(p, u);
  if (pu <= 0.0 || uu <= CLOSEST_TINY) {
    return closestOf(vec4f(1.0, 1.0, 0.0, 0.0), p);
  }
  // Clamped, for a quotient just under 1 may round above it.
  let t = min(pu / uu, 1.0);
  if (pu >= uu || t == 1.0) {
    return closestOf(vec4f(1.0, 0.0, 1.0, 0.0), a - j);
  }
  return closestOf(vec4f(1.0, 1.0 - t, t, 0.0), p - t * u);
}

// q x v, or v x q
fn crossed(q: vec3f, v: vec3f, isExchanged: bool) -> vec3f {
  return cross3(select(q, v, isExchanged), select(v, q, isExchanged));
}

// How the closest points of a pair with the slots [a | i j k] or [a b | c d] are sought: first from each vertex to an
// edge, one a turn, then between the interiors of both elements.
//
//   [a | i j k]   a to ij, a to jk, a to ki
//   [a b | c d]   a to cd, b to cd, c to ab, d to ab
//
// Three turns and four; one alone is a to ij, or a to cd, and nothing further. Where i and j are one point it is a to i.
//
// Vertices at rest may lie anywhere (src/solver/resting.ts), and the terms of an interior solution have four factors. With
// coordinates below 2^30 a component of a difference is below 2^31, one of a cross product below 2^63, and a dot product of two
// of these below 3 · 2^126, which is finite. Larger coordinates are multiplied by a power of two, and the difference by its
// inverse. Neither rounds, but for numbers below 2^-28, which may become 0. Beside coordinates of 2^79 and more the square of an
// edge of one unit is below CLOSEST_TINY.
fn closestInTurns(p0: vec3f, p1: vec3f, p2: vec3f, p3: vec3f, isEdges: bool, turns: u32) -> Closest {
  let scale = closestScale(max(max(abs(p0), abs(p1)), max(abs(p2), abs(p3))));
  let found = closestScaled(scale * p0, scale * p1, scale * p2, scale * p3, isEdges, turns);
  return Closest(found.weight, inverseOfPower(scale) * found.difference, found.squared);
}

// The exponent field of 1, and those of the least coordinate that is scaled and of what the largest one is scaled to.
const ONE_FIELD: u32 = 127u;
const FAR_FIELD: u32 = ONE_FIELD + 30u;
const SCALED_FIELD: u32 = ONE_FIELD + 29u;

// 1 if no coordinate reaches 2^30, otherwise the power of two that takes the largest one to at least 2^29, below 2^30.
fn closestScale(largest: vec3f) -> f32 {
  let bits = bitcast<vec3u>(largest);
  let exponent = max(bits.x, max(bits.y, bits.z)) >> 23u;
  return select(1.0, bitcast<f32>((ONE_FIELD + SCALED_FIELD - exponent) << 23u), exponent >= FAR_FIELD);
}

fn inverseOfPower(power: f32) -> f32 {
  return bitcast<f32>(((2u * ONE_FIELD) << 23u) - bitcast<u32>(power));
}

// One body for every turn and for both shapes: the compile time of a software driver grows with every line of machine
// code, and code that is written out for each turn is compiled for each turn (docs/method.md, cold start). Where the
// two shapes differ by a sign, factors are exchanged and motions negated, which changes no rounding.
fn closestScaled(p0: vec3f, p1: vec3f, p2: vec3f, p3: vec3f, isEdges: bool, turns: u32) -> Closest {
  var best: Closest;
  var point = p0;
  var begin = select(p1, p2, isEdges);
  var end = select(p2, p3, isEdges);
  // The next turn: the next vertex of two edges, or the next corner of a triangle.
  var next = select(p3, p1, isEdges);
  for (var turn = 0u; turn < turns; turn++) {
    let found = closestVertexEdge(point, begin, end);
    let isCloser = turn == 0u || found.squared < best.squared;
    let isLate = turn >= 2u;
    let on = found.weight.yz;
    let vertex = select(vec2f(0.0, 1.0), vec2f(1.0, 0.0), (turn & 1u) == 0u);
    let ofEdges = select(vec4f(vertex, on), vec4f(on, vertex), isLate);
    let around = select(select(vec3f(0.0, on), vec3f(on.y, 0.0, on.x), isLate), vec3f(on, 0.0), turn == 0u);
    best.weight = select(best.weight, select(vec4f(1.0, around), ofEdges, isEdges), isCloser);
    best.difference = select(best.difference, select(found.difference, -found.difference, isEdges && isLate), isCloser);
    best.squared = select(best.squared, found.squared, isCloser);
    // b after a, then c and d to the edge of a and b; or on around the triangle.
    let isSecondSide = turn >= 1u;
    point = select(p0, select(p1, select(p2, p3, isLate), isSecondSide), isEdges);
    begin = select(end, select(begin, p0, isSecondSide), isEdges);
    end = select(next, select(end, p1, isSecondSide), isEdges);
    next = p1;
  }
  if (turns == 1u) {
    return best;
  }
  // [a | i j k]: p = a - i = s u + t v + h n; s = n . (p x v) / |n|^2, t = n . (u x p) / |n|^2
  // [a b | c d]: p = a - c, p + s u - t v is along n; s = n . (v x p) / |n|^2, t = n . (u x p) / |n|^2
  let p = p0 - select(p1, p2, isEdges);
  let u = select(p2 - p1, p1 - p0, isEdges);
  let v = select(p3 - p1, p3 - p2, isEdges);
  let n = cross3(u, v);
  let nn = dot3(n, n);
  if (nn <= CLOSEST_TINY) {
    return best;
  }
  var s = 0.0;
  var t = 0.0;
  var rest = p;
  // Solved, and refined by what is left of p: two, which the compiler does not know.
  for (var round = 0u; round < min(turns, 2u); round++) {
    s += dot3(n, crossed(rest, v, isEdges)) / nn;
    t += dot3(n, cross3(u, rest)) / nn;
    rest = p - select(s, -s, isEdges) * u - t * v;
  }
  let w = 1.0 - s - t;
  if (s > 0.0 && t > 0.0 && select(w > 0.0, s < 1.0 && t < 1.0, isEdges)) {
    if (dot3(rest, rest) < best.squared) {
      let weight = select(vec4f(1.0, w, s, t), vec4f(1.0 - s, s, 1.0 - t, t), isEdges);
      return closestOf(weight, alongNormal(n, nn, rest, dot3(u, u) * dot3(v, v)));
    }
  }
  return best;
}

// The part of an interior difference that is along n = u x v, or all of it where n is too thin to tell a direction.
fn alongNormal(n: vec3f, nn: f32, rest: vec3f, longest: f32) -> vec3f {
  if (nn <= CLOSEST_THIN * longest) {
    return rest;
  }
  return (dot3(n, rest) / nn) * n;
}
