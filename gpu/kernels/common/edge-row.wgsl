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
  let a = edgeEnds[e].x;
  let b = edgeEnds[e].y;
  let i = 3u * a;
  let j = 3u * b;
  let yi = vec3f(y[i], y[i + 1u], y[i + 2u]);
  let yj = vec3f(y[j], y[j + 1u], y[j + 2u]);
  let d = yi - yj;
  let c = row.w - (row.x * d.x + row.y * d.y + row.z * d.z);
  var old = 0.0;
  if (!isFirst) {
    old = edgeLambda[e];
  }
  let wi = inverseMass[a];
  let wj = inverseMass[b];
  let lambda = max(0.0, old - c / (wi + wj));
  edgeLambda[e] = lambda;
  let change = lambda - old;
  if (change == 0.0) {
    return;
  }
  // J_i = −u, J_j = +u
  if (wi > 0.0) {
    y[i] = yi.x - wi * change * row.x;
    y[i + 1u] = yi.y - wi * change * row.y;
    y[i + 2u] = yi.z - wi * change * row.z;
  }
  if (wj > 0.0) {
    y[j] = yj.x + wj * change * row.x;
    y[j + 1u] = yj.y + wj * change * row.y;
    y[j + 2u] = yj.z + wj * change * row.z;
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
