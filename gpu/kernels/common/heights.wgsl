// Signed heights of a pair along a vector n over its first vertex o, in float32; mirrors measureHeights of
// src/solver/cpu/certificate.ts.
//
//   h_k = n·(x_k − o),   lo = min over side a,   hi = max over side b,   gap = lo − hi
//
// With u = 2^-23 (WGSL fixes no direction of rounding): the difference errs by u relative, each product by u, the two sums
// by u each of what they add, so |h_k − exact| ≤ ((1 + u)^4 − 1) Σ_c |n_c d_c| < 5u Σ_c |n_c d_c|. e = 8u max_k Σ_c |n_c d_c|
// leaves slack for its own rounding and for the few scalar operations that combine heights; up to terms in u² it is twice the
// error, which the check needs (src/solver/cpu/forward.ts). Whatever n is: gap > 2e means
// that the exact heights of side a lie above those of side b, so that a plane with normal n separates the two hulls.
//
// The differences come first: what the coordinates share cancels there. An adapter proves that its compiler leaves the order
// as it is (gpu/proof/heights-proof.ts).

// Vertices at rest may lie anywhere (src/solver/resting.ts). Where a difference or a height is out of range (common/range.wgsl,
// which kernels include before this file), nothing is known of the heights: they are those of no certificate, finite and below
// every gap that is asked for.

struct Heights {
  // of the four slots; slots that the kind does not use repeat a height of side b
  h: vec4f,
  lo: f32,
  hi: f32,
  gap: f32,
  error: f32,
}

fn heightOf(n: vec3f, d: vec3f) -> f32 {
  return n.x * d.x + n.y * d.y + n.z * d.z;
}

fn spreadOf(n: vec3f, d: vec3f) -> f32 {
  return abs(n.x * d.x) + abs(n.y * d.y) + abs(n.z * d.z);
}

// e of heights whose largest Σ_c |n_c d_c| this is. The second term covers what is replaced by 0 because it is subnormal.
fn errorOf(spread: f32) -> f32 {
  return ERROR_FACTOR * spread + UNDERFLOW_ERROR;
}

// Whether this gap is a certificate (docs/method.md, S1).
fn isCertified(gap: f32, error: f32) -> bool {
  return gap > 2.0 * error;
}

// A gap that one normal certifies: no plane can separate two sets by more than their distance.
fn gapOf(heights: Heights, distance: f32) -> f32 {
  return min(heights.gap, distance);
}

// lo is below, and hi above, every height in range by far more than an e, so that maxima with what is known cannot hide them.
const UNKNOWN_HEIGHT: f32 = 1e38;
const UNKNOWN_ERROR: f32 = 1e37;

fn unknownHeights() -> Heights {
  return Heights(vec4f(0.0), -UNKNOWN_HEIGHT, UNKNOWN_HEIGHT, -2.0 * UNKNOWN_HEIGHT, UNKNOWN_ERROR);
}

fn areKnown(heights: Heights) -> bool {
  return heights.error < UNKNOWN_ERROR;
}

fn measureHeights(kind: u32, p: Corners, n: vec3f) -> Heights {
  let d1 = p.p1 - p.p0;
  let h1 = heightOf(n, d1);
  var h2 = h1;
  var h3 = h1;
  var reach = spreadOf(n, d1);
  var sizes = reach;
  if (kind <= VE) {
    let d2 = p.p2 - p.p0;
    h2 = heightOf(n, d2);
    h3 = h2;
    let spread2 = spreadOf(n, d2);
    reach = max(reach, spread2);
    sizes += spread2;
    if (kind <= EE) {
      let d3 = p.p3 - p.p0;
      h3 = heightOf(n, d3);
      let spread3 = spreadOf(n, d3);
      reach = max(reach, spread3);
      sizes += spread3;
    }
  }
  if (!isSumInRange(sizes)) {
    return unknownHeights();
  }
  // h0 = 0: the first vertex is the origin of the heights.
  var lo = 0.0;
  var hi = max(h2, h3);
  if (kind == EE) {
    lo = min(0.0, h1);
  } else {
    hi = max(h1, hi);
  }
  return Heights(vec4f(0.0, h1, h2, h3), lo, hi, lo - hi, errorOf(reach));
}
