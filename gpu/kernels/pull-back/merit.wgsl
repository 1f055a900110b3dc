// Parts of Φ at x, and of what it is above Φ at the best state, over every so-many-th vertex and edge a thread:
//
//   Φ = Σ m_i (|x_i − y*_i| + SHORTFALL_WEIGHT s_i)² + EXCESS_WEIGHT Σ max(0, |x_i − x_j| − R_ij)²,   R = σ L*
//
// with the shortfall s_i of the contacts of a vertex (pull-back/shortfalls.wgsl), the two sums apart; the difference to the
// best state term by term, |a|² − |b|² = (a − b)·(a + b), so that its sign is that of many small terms even beside a large one
// that hardly changes. Lengths are in units of the largest |x − y*| that the pull-back began with, rounded down to a power of
// two, so that squares neither overflow nor vanish beside each other; scaling by a power of two is exact. Behind these parts,
// from SUM_GROUPS on, lie those of the vertices that the best state has no farther than a leap from their targets: their terms
// there, and what those at x are above them.
//
// In: x, best, goal, inverseMass, edgeEnds, edgeRow, shortfalls, control. Out: sums. Mirrors Merit.of and Merit.keep
// (src/solver/cpu/merit.ts) and EdgeLimits.excess (edge-limits.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/lengths.wgsl"
@group(0) @binding(1) var<uniform> control: ControlView;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> goal: array<f32>;
@group(0) @binding(4) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(5) var<storage, read> edgeEnds: array<vec2u>;
@group(0) @binding(6) var<storage, read> edgeRow: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> sums: array<vec4f>;
@group(0) @binding(8) var<storage, read> best: array<f32>;
@group(0) @binding(9) var<storage, read> shortfalls: array<f32>;
@group(0) @binding(10) var<uniform> pullBack: PullBack;
// #include "pull-back/sums.wgsl"
// #include "pull-back/merit-scale.wgsl"
// #include "pull-back/edge-excess.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn weigh(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let scale = meritScale(control.unitBits);
  let stride = WORKGROUP_SIZE * groups.x * groups.y;
  let begin = linearIndex(group, groups, local);
  var own = vec4f(0.0);
  var near = vec4f(0.0);
  for (var i = begin; i < parameters.vertexCount; i += stride) {
    let w = inverseMass[i];
    var square = 0.0;
    var bestSquare = 0.0;
    var loss = 0.0;
    for (var k = 3u * i; k < 3u * i + axes(); k++) {
      let here = scale * x[k] - scale * goal[k];
      let there = scale * best[k] - scale * goal[k];
      square += here * here;
      bestSquare += there * there;
      loss += (scale * (x[k] - best[k])) * (here + there);
    }
    let short = SHORTFALL_WEIGHT * scale * shortfalls[i];
    let bestShort = SHORTFALL_WEIGHT * scale * shortfalls[parameters.vertexCount + i];
    // (a + s)² − (b + t)² = a² − b² + 2 ((a − b) s + b (s − t)) + s² − t²
    let distance = sqrt(square);
    let bestDistance = sqrt(bestSquare);
    let both = distance + bestDistance;
    // The root of a float32 that is not 0 is far above the smallest divisor that WGSL allows, 2^−126.
    let further = loss / select(1.0, both, both > 0.0);
    let shorter = short - bestShort;
    let more = 2.0 * (further * short + bestDistance * shorter) + shorter * (short + bestShort);
    if (w > 0.0) {
      own += vec4f((distance + short) * (distance + short) / w, 0.0, (loss + more) / w, 0.0);
      let earlier = (bestDistance + bestShort) * (bestDistance + bestShort);
      let isNear = bestDistance <= scale * pullBack.longest;
      near += select(vec4f(0.0), vec4f(earlier / w, (loss + more) / w, 0.0, 0.0), isNear);
    }
  }
  for (var e = begin; e < parameters.edgeCount; e += stride) {
    let limit = edgeRow[e].w;
    if (limit < 0.0) {
      continue;
    }
    let i = 3u * edgeEnds[e].x;
    let j = 3u * edgeEnds[e].y;
    var here = vec3f(0.0);
    var there = vec3f(0.0);
    for (var c = 0u; c < axes(); c++) {
      here[c] = scale * (x[i + c] - x[j + c]);
      there[c] = scale * (best[i + c] - best[j + c]);
    }
    let longest = (1.0 + EXCESS_ROUNDING) * (scale * limit);
    let present = excessOf(here, longest);
    let earlier = excessOf(there, longest);
    own += vec4f(0.0, present * present, 0.0, (present - earlier) * (present + earlier));
  }
  let sum = sumOfGroup(own, local);
  workgroupBarrier();
  let sumOfNear = sumOfGroup(near, local);
  if (local == 0u) {
    sums[foldedGroup(group, groups)] = sum;
    sums[SUM_GROUPS + foldedGroup(group, groups)] = sumOfNear;
  }
}
