// One projection of an edge length constraint; mirrors EdgeLengths.sweep (src/solver/cpu/edges.ts).
// In: edgeRow, edgeEnds, inverseMass. In and out: y, edgeLambda.
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read> edgeEnds: array<vec2u>;
@group(0) @binding(3) var<storage, read> edgeRow: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> edgeLambda: array<f32>;
@group(0) @binding(5) var<storage, read> inverseMass: array<f32>;

// isFirst: λ counts as 0, as it does at the start of every backward step.
fn projectEdge(e: u32, isFirst: bool) {
  let row = edgeRow[e];
  if (row.w < 0.0) {
    return;
  }
  let ends = edgeEnds[e];
  // Two, which the compiler does not know, or it would write both ends out.
  let sides = select(1u, 2u, ends.x != ends.y);
  var d = vec3f(0.0);
  var w = vec2f(0.0);
  for (var side = 0u; side < sides; side++) {
    let v = ends[side];
    let at = vec3f(y[3u * v], y[3u * v + 1u], y[3u * v + 2u]);
    d = select(d - at, at, side == 0u);
    w[side] = inverseMass[v];
  }
  let c = row.w - (row.x * d.x + row.y * d.y + row.z * d.z);
  var old = 0.0;
  if (!isFirst) {
    old = edgeLambda[e];
  }
  let lambda = max(0.0, old - c / (w.x + w.y));
  edgeLambda[e] = lambda;
  let change = lambda - old;
  if (change == 0.0) {
    return;
  }
  // J_i = −u, J_j = +u
  for (var side = 0u; side < sides; side++) {
    if (w[side] > 0.0) {
      let push = select(w[side], -w[side], side == 0u) * change;
      let k = 3u * ends[side];
      y[k] += push * row.x;
      y[k + 1u] += push * row.y;
      y[k + 2u] += push * row.z;
    }
  }
}

// Which edges a dispatch sweeps: first and end of a colour, or of the colours of the tail.
struct EdgeRange {
  first: u32,
  end: u32,
  // 1 = the first sweep of a step
  isFirst: u32,
  // tail: its colours are edgeColours[firstColour] … edgeColours[endColour]
  firstColour: u32,
  endColour: u32,
  padding0: u32,
  padding1: u32,
  padding2: u32,
}
@group(0) @binding(6) var<uniform> edgeRange: EdgeRange;
