// Closest points of two elements in float32 (mirrors src/solver/cpu/closest.ts; Ericson, Real-Time Collision Detection 5.1).
//
// Answers are guidance: weights, a candidate normal, an upper bound of the distance. Safety rests on signed heights along
// whatever normal comes out. Coordinates are differenced before anything is multiplied. Every quotient stands behind a
// test of its denominator, degenerate elements fall through to their lower-dimensional selves, and of all candidates the
// smallest wins in a fixed order: no threshold decides what is parallel or flat.
//
// An interior solution is refined once by its own residual: the first one is off by about u times the elements' aspect
// ratio, the residual is good to u times their size, so the second is too unless the ratio itself comes near 1 / u.

struct Closest {
  // of the four slots, side a first; each side sums to 1 to a few u, none is negative, unused slots weigh 0
  weight: vec4f,
  // p - q: from the closest point of side b to that of side a
  difference: vec3f,
  // of the difference
  squared: f32,
}

// Denominators under this are no denominators: WGSL promises no quotient near the subnormals. Squares of lengths in
// engine units, where the median edge is about 1: elements under 1e-15 are points.
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

// Vertex a against vertex i, slots [a | i]
fn closestVertexVertex(a: vec3f, i: vec3f) -> Closest {
  return closestOf(vec4f(1.0, 1.0, 0.0, 0.0), a - i);
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

// Vertex a against triangle i j k, slots [a | i j k]
fn closestVertexTriangle(a: vec3f, i: vec3f, j: vec3f, k: vec3f) -> Closest {
  var best = closestVertexEdge(a, i, j);
  let second = closestVertexEdge(a, j, k);
  if (second.squared < best.squared) {
    best = second;
    best.weight = vec4f(1.0, 0.0, second.weight.y, second.weight.z);
  }
  let third = closestVertexEdge(a, k, i);
  if (third.squared < best.squared) {
    best = third;
    best.weight = vec4f(1.0, third.weight.z, 0.0, third.weight.y);
  }
  let p = a - i;
  let u = j - i;
  let v = k - i;
  let n = cross3(u, v);
  let nn = dot3(n, n);
  if (nn <= CLOSEST_TINY) {
    return best;
  }
  // p = s u + t v + h n: s = n . (p x v) / |n|^2, t = n . (u x p) / |n|^2
  var s = dot3(n, cross3(p, v)) / nn;
  var t = dot3(n, cross3(u, p)) / nn;
  let r = p - s * u - t * v;
  let ds = dot3(n, cross3(r, v)) / nn;
  let dt = dot3(n, cross3(u, r)) / nn;
  s += ds;
  t += dt;
  let w = 1.0 - s - t;
  if (s > 0.0 && t > 0.0 && w > 0.0) {
    let rest = p - s * u - t * v;
    if (dot3(rest, rest) < best.squared) {
      return closestOf(vec4f(1.0, w, s, t), alongNormal(n, nn, rest, dot3(u, u) * dot3(v, v)));
    }
  }
  return best;
}

// Segment a b against segment c d, slots [a b | c d]
fn closestEdgeEdge(a: vec3f, b: vec3f, c: vec3f, d: vec3f) -> Closest {
  let first = closestVertexEdge(a, c, d);
  var best = first;
  best.weight = vec4f(1.0, 0.0, first.weight.y, first.weight.z);
  let second = closestVertexEdge(b, c, d);
  if (second.squared < best.squared) {
    best = second;
    best.weight = vec4f(0.0, 1.0, second.weight.y, second.weight.z);
  }
  let third = closestVertexEdge(c, a, b);
  if (third.squared < best.squared) {
    best = Closest(vec4f(third.weight.y, third.weight.z, 1.0, 0.0), -third.difference, third.squared);
  }
  let fourth = closestVertexEdge(d, a, b);
  if (fourth.squared < best.squared) {
    best = Closest(vec4f(fourth.weight.y, fourth.weight.z, 0.0, 1.0), -fourth.difference, fourth.squared);
  }
  let u = b - a;
  let v = d - c;
  let w = a - c;
  let n = cross3(u, v);
  let nn = dot3(n, n);
  if (nn <= CLOSEST_TINY) {
    return best;
  }
  // w + s u - t v is along n: s = n . (v x w) / |n|^2, t = n . (u x w) / |n|^2
  var s = dot3(n, cross3(v, w)) / nn;
  var t = dot3(n, cross3(u, w)) / nn;
  let r = w + s * u - t * v;
  let ds = dot3(n, cross3(v, r)) / nn;
  let dt = dot3(n, cross3(u, r)) / nn;
  s += ds;
  t += dt;
  if (s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0) {
    let rest = w + s * u - t * v;
    if (dot3(rest, rest) < best.squared) {
      return closestOf(vec4f(1.0 - s, s, 1.0 - t, t), alongNormal(n, nn, rest, dot3(u, u) * dot3(v, v)));
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
