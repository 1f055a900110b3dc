// Signed heights of a pair's four points over the plane through the first one, with the bound of their rounding error
// (docs/method.md, certified gap): h_k = n . (x_k - o), o = x_0, and e = 8 u max_k sum_c |n_c (x_kc - o_c)|, u = 2^-23.
//
// The differences come first, so that what the coordinates share cancels exactly or with relative error u; n . x - n . o
// would lose |x| u instead. Dot products are written out: the built-in one promises less.

// float32[12 * pairs] four points of three coordinates each
@group(0) @binding(0) var<storage, read> points: array<f32>;
// float32[3 * pairs]
@group(0) @binding(1) var<storage, read> normals: array<f32>;
// float32[5 * pairs] h_0 .. h_3, e
@group(0) @binding(2) var<storage, read_write> heights: array<f32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn signedGap(@builtin(global_invocation_id) id: vec3u) {
  let pair = id.x;
  if (pair >= arrayLength(&normals) / 3u) {
    return;
  }
  let n = vec3f(normals[3u * pair], normals[3u * pair + 1u], normals[3u * pair + 2u]);
  let first = 12u * pair;
  let o = vec3f(points[first], points[first + 1u], points[first + 2u]);
  var largest = 0.0;
  for (var k = 0u; k < 4u; k++) {
    let at = first + 3u * k;
    let d = vec3f(points[at], points[at + 1u], points[at + 2u]) - o;
    heights[5u * pair + k] = n.x * d.x + n.y * d.y + n.z * d.z;
    largest = max(largest, abs(n.x * d.x) + abs(n.y * d.y) + abs(n.z * d.z));
  }
  heights[5u * pair + 4u] = ERROR_FACTOR * largest;
}
