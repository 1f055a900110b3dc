// Certain signs of determinants, for the state filter: 1, -1, or 0 for "float32 cannot tell".
//
// What is known of the numbers. The host moves and scales the mesh so that every coordinate is at most 1 in size; a
// coordinate here differs from the exact image of the one that is judged by at most some e (0 for float32 answers, whose
// scale is a power of two). No input is subnormal. u = 2^-23, because WGSL fixes no direction of rounding: each +, - and *
// errs by at most u of its result, and may replace a subnormal operand or result by 0, which is at most 2^-126 each.
//
// Differences. A component d of a difference errs by u' |d| + s with u' = u (1 + 2u) and s = 2e + 4 · 2^-126.
// `held` passes it through a bit operation with a uniform 0, so that no compiler can draw it into the sums that follow:
// what the two coordinates share has cancelled by then, and only here.
//
// det(U, V, W) is a sum of six products of three. Let P = Σ |U_i V_j W_k| over the six, and |U| the sum of the sizes of U's
// components. With every component off by u' of itself and s, the exact determinant differs from that of the rounded
// vectors by at most ((1 + u')^3 - 1) P + (1 + u')^2 [s (|V||W| + |U||W| + |U||V|) + 2 s² (|U| + |V| + |W|) + 6 s³], and the
// bracket is below s times the sum of the products of (|U| + 3s), (|V| + 3s), (|W| + 3s), two at a time. The sum itself, in
// any order and with any contraction, adds at most ((1 + u)^7 - 1) P: two products and five sums on the path of each term.
// Together 10.01 u P; the bound takes 16 u P, and 1.25 s for s, which covers the rounding of P, of the bound and of the
// comparison as well (below (1 + u)^16). Flushed products: no operand exceeds 8, so what the some thirty products of a
// determinant and its bound lose is below 30 · 64 · 2^-126 < 2^-115, and ABSOLUTE is far above it.
//
// det2(U, V), in a plane, is a sum of two products: 2u' + 3u in place of 3u' + 7u, and s (|U| + |V| + 2s).

// 16 · 2^-23, and the whole slack: other values only in a test, to see that they are needed.
override MARGIN: f32 = 1.9073486328125e-6;
override SLACK_SHARE: f32 = 1.0;
// 2^-100
const ABSOLUTE: f32 = 7.888609052210118e-31;

fn held(d: vec3f, zero: u32) -> vec3f {
  return bitcast<vec3f>(bitcast<vec3u>(d) ^ vec3u(zero));
}

fn certain(determinant: f32, bound: f32) -> i32 {
  return select(0, 1, determinant > bound) - select(0, 1, determinant < -bound);
}

fn sizeOf(d: vec3f) -> f32 {
  return abs(d.x) + abs(d.y) + abs(d.z);
}

fn signOfVolume(a: vec3f, b: vec3f, c: vec3f, slack: f32) -> i32 {
  let first = b.yzx * c.zxy;
  let second = b.zxy * c.yzx;
  let minors = first - second;
  let sizes = abs(first) + abs(second);
  let determinant = a.x * minors.x + a.y * minors.y + a.z * minors.z;
  let products = abs(a.x) * sizes.x + abs(a.y) * sizes.y + abs(a.z) * sizes.z;
  let la = sizeOf(a) + 3.0 * slack;
  let lb = sizeOf(b) + 3.0 * slack;
  let lc = sizeOf(c) + 3.0 * slack;
  return certain(determinant, MARGIN * products + slack * (lb * lc + la * lc + la * lb) + ABSOLUTE);
}

fn signOfArea(a: vec2f, b: vec2f, slack: f32) -> i32 {
  let first = a.x * b.y;
  let second = a.y * b.x;
  let lengths = abs(a.x) + abs(a.y) + abs(b.x) + abs(b.y) + 2.0 * slack;
  return certain(first - second, MARGIN * (abs(first) + abs(second)) + slack * lengths + ABSOLUTE);
}
