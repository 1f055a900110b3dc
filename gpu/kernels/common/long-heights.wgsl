// Heights of long pairs (docs/method.md, S1). Where Σ_c |n_c d_c| exceeds LONG_SPREAD, 2e of heights in float32 would exceed
// the floor at the default δ; src/solver/cpu/certificate.ts computes them in double there. Here they are computed in integers,
// which WGSL defines exactly, in units of 2^-24:
//
//   n_c = N / 2^30, N rounded towards 0,   x_c = X / 2^18, X rounded down,   h = Σ_c N_c (X_kc − X_oc) / 2^48
//
// X has 18 bits behind the point and up to 24 before it: `whole` = floor(64 x) and 12 bits that follow. A difference is split
// into limbs of 12 bits, N into 15 bits and the sign with the rest. Sums of three products of limbs fit an i32, except those of the
// highest limb, d2, which are not shifted right: their high bits do not matter, because sums wrap, and |h| < 128 is what an i32
// holds in units of 2^-24. That it is so small is known from the height in float32.
//
// Error of a height: X by less than 2^-18 in each coordinate, and of two coordinates in opposite directions, hence 2^-18 Σ|n_c|
// < 1.74 · 2^-18; three sums that are shifted right, 3 · 2^-24; N by less than 2^-30, which makes 2^-30 Σ_c |d_c|; the
// conversion, u |h|. e = 2^-16 + 2^-29 max_k Σ_c |d_kc| + 16u max(|lo|, |hi|) is at least twice that, as the check needs.
// Combining heights in float32 costs at most ten roundings of u max(|lo|, |hi|) (certificate.ts), for which 16u leaves room as
// well.
// #include "common/pair.wgsl"
// #include "common/corners.wgsl"
// #include "common/range.wgsl"
// #include "common/heights.wgsl"

// Heights above this keep their float32 value, which errs by less than 28 where coordinates are below LONG_RANGE: they do not wrap.
const LONG_HEIGHT: f32 = 100.0;
// lo and hi are taken from integers below this. A height that keeps its float32 value is then behind them: where that is -100 or
// less, the exact one is below -72.
const LONG_GAP: f32 = 72.0;
// floor(64 x) of both ends and their difference are i32.
const LONG_RANGE: f32 = 8388608.0;

fn isLong(error: f32) -> bool {
  return error > ERROR_FACTOR * LONG_SPREAD;
}

fn isInLongRange(at: vec3f) -> bool {
  return all(abs(at) < vec3f(LONG_RANGE));
}

fn dotOfLimbs(a: vec3i, b: vec3i) -> i32 {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

// The height of a point over o along n, in integers.
fn longHeightOf(n: vec3f, at: vec3f, o: vec3f) -> f32 {
  let scaled = 64.0 * at;
  let scaledO = 64.0 * o;
  let whole = floor(scaled);
  let wholeO = floor(scaledO);
  let high = vec3i(whole) - vec3i(wholeO);
  let low = vec3i(4096.0 * (scaled - whole)) - vec3i(4096.0 * (scaledO - wholeO));
  let normal = vec3i(1073741824.0 * n);
  let n1 = normal >> vec3u(15u);
  let n0 = normal & vec3i(0x7fff);
  let d2 = high >> vec3u(12u);
  let d1 = high & vec3i(0xfff);
  let sum = (dotOfLimbs(n1, d2) << 15u) + (dotOfLimbs(n1, d1) << 3u) + dotOfLimbs(n0, d2) +
    (dotOfLimbs(n1, low) >> 9u) + (dotOfLimbs(n0, d1) >> 12u) + (dotOfLimbs(n0, low) >> 24u);
  // A product with a power of two is exact, where WGSL lets a quotient err.
  return f32(sum) * 5.9604644775390625e-8;
}

// e of heights that were computed in integers. extent: the largest Σ_c |d_c|; height: max(|lo|, |hi|)
fn longErrorOf(extent: f32, height: f32) -> f32 {
  return LONG_ROUNDING + LONG_EXTENT_ERROR * extent + 2.0 * ERROR_FACTOR * height;
}

fn extentOf(d: vec3f) -> f32 {
  return abs(d.x) + abs(d.y) + abs(d.z);
}

// measureHeights, and in integers where the pair is long.
fn measureAnyHeights(kind: u32, p: Corners, n: vec3f) -> Heights {
  var heights = measureHeights(kind, p, n);
  if (!isLong(heights.error) || !areKnown(heights)) {
    return heights;
  }
  var h = heights.h;
  var extent = 0.0;
  var isInRange = isInLongRange(p.p0);
  // Slots that the kind does not use hold p0, or 0: they keep repeating one of side b.
  for (var s = 1u; s < cornersOf(kind); s++) {
    let at = select(select(p.p1, p.p2, s == 2u), p.p3, s == 3u);
    isInRange = isInRange && isInLongRange(at);
    extent = max(extent, extentOf(at - p.p0));
    if (abs(h[s]) < LONG_HEIGHT) {
      h[s] = longHeightOf(n, at, p.p0);
    }
  }
  let isEdges = kind == EE;
  h.z = select(h.z, h.y, kind == VV);
  h.w = select(h.z, h.w, kind <= EE);
  let lo = select(0.0, min(0.0, h.y), isEdges);
  let hi = max(max(h.z, h.w), select(h.y, h.z, isEdges));
  let height = max(-lo, abs(hi));
  if (!isInRange || height >= LONG_GAP) {
    return heights;
  }
  return Heights(h, lo, hi, lo - hi, longErrorOf(extent, height));
}

// The height of a written corner over o, and its e.
fn measureCorner(n: vec3f, at: vec3f, o: vec3f) -> vec2f {
  let d = at - o;
  let height = heightOf(n, d);
  let error = errorOf(spreadOf(n, d));
  if (isLong(error) && abs(height) < LONG_HEIGHT && isInLongRange(at) && isInLongRange(o)) {
    let exact = longHeightOf(n, at, o);
    return vec2f(exact, longErrorOf(extentOf(d), abs(exact)));
  }
  return vec2f(height, error);
}
