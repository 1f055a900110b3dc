// What the vertices of a component have in common in the sweeps of a step, one workgroup a component:
//
//   noteStart       before the sweeps: yFrom ← y, as it was rebuilt
//   settleShares    once y was moved by all multipliers of the last step, y = yFrom − d: the share c of them with which the
//                   step begins, c = 1 + ⟨yFrom − rebuilt, d⟩_M / ‖d‖²_M within 0 and the most at rest; y ← yFrom − c d;
//                   rebuilt ← yFrom
//   spanMotions     what the component may go of its way from x to y
//   shortenMotions  at the end of the sweeps: y ← x + s (y − x), one share for all
//
// In: strainMembers, x, inverseMass, control. In and out: y, yFrom, strainRebuilt, strainShares. Mirrors
// ComponentShares.ofMultipliers, which derives c, ofMotions and shortenMotions (src/solver/cpu/component-shares.ts).
// #include "common/dispatch.wgsl"
// #include "common/lengths.wgsl"
@group(0) @binding(0) var<uniform> control: ControlView;
@group(0) @binding(1) var<storage, read> strainMembers: array<u32>;
@group(0) @binding(2) var<storage, read_write> strainShares: array<StrainShares>;
@group(0) @binding(3) var<storage, read> x: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> yFrom: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> strainRebuilt: array<f32>;
@group(0) @binding(7) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(8) var<uniform> pullBack: PullBack;
// #include "strain/members.wgsl"

@compute @workgroup_size(TAIL_THREADS)
fn noteStart(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let c = componentOf(group, groups);
  if (c == NO_COMPONENT) {
    return;
  }
  for (var n = strainMembers[c] + local; n < strainMembers[c + 1u]; n += TAIL_THREADS) {
    let v = strainMembers[n];
    yFrom[v] = y[v];
  }
}

@compute @workgroup_size(TAIL_THREADS)
fn settleShares(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let c = componentOf(group, groups);
  if (c == NO_COMPONENT) {
    return;
  }
  let end = strainMembers[c + 1u];
  var own = vec2f(0.0);
  for (var n = strainMembers[c] + local; n < end; n += TAIL_THREADS) {
    let v = strainMembers[n];
    var dots = vec2f(0.0);
    for (var c = 0u; c < 3u; c++) {
      let q = 3u * v + c;
      let d = yFrom[v][c] - y[v][c];
      dots += vec2f((yFrom[v][c] - strainRebuilt[q]) * d, d * d);
    }
    own += dots / inverseMass[v];
  }
  let sum = sumOfThreads(own, local);
  let shares = strainShares[c];
  let most = max(1.0, shares.pace / shares.lastPace);
  // Where the multipliers move nothing any share is as good.
  let share = select(1.0, clamp(1.0 + sum.x / max(sum.y, SMALLEST), 0.0, most), sum.y > SMALLEST);
  for (var n = strainMembers[c] + local; n < end; n += TAIL_THREADS) {
    let v = strainMembers[n];
    for (var c = 0u; c < 3u; c++) {
      let q = 3u * v + c;
      let before = yFrom[v][c];
      y[v][c] = select(before + share * (y[v][c] - before), y[v][c], share == 1.0);
      strainRebuilt[q] = before;
    }
  }
  if (local == 0u) {
    strainShares[c].ofMultipliers = share;
  }
}

// Above the smallest divisor that WGSL allows, 2^−126, and below the square of any motion that is made.
const SMALLEST: f32 = 1e-30;

@compute @workgroup_size(TAIL_THREADS)
fn spanMotions(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let c = componentOf(group, groups);
  if (c == NO_COMPONENT) {
    return;
  }
  var farthest = 0.0;
  for (var n = strainMembers[c] + local; n < strainMembers[c + 1u]; n += TAIL_THREADS) {
    let v = strainMembers[n];
    let k = 3u * v;
    farthest = max(farthest, lengthOf(y[v].xyz - vec3f(x[k], x[k + 1u], x[k + 2u])));
  }
  farthest = mostOfThreads(farthest, local);
  if (local == 0u) {
    // A quotient of equal numbers need not be 1, and only with 1 is y left as it is, on its target bit for bit.
    let isLonger = farthest > pullBack.longest;
    strainShares[c].ofMotions = select(1.0, pullBack.longest / max(farthest, pullBack.longest), isLonger);
  }
}

@compute @workgroup_size(TAIL_THREADS)
fn shortenMotions(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let c = componentOf(group, groups);
  if (c == NO_COMPONENT) {
    return;
  }
  let share = strainShares[c].ofMotions;
  if (share == 1.0) {
    return;
  }
  for (var n = strainMembers[c] + local; n < strainMembers[c + 1u]; n += TAIL_THREADS) {
    let v = strainMembers[n];
    for (var c = 0u; c < 3u; c++) {
      let here = x[3u * v + c];
      y[v][c] = here + share * (y[v][c] - here);
    }
  }
}
