// Strain limits of the pull-back: singular values of F within [s_min, s_max], as two convex sets of an element, each with a
// matrix multiplier (src/solver/cpu/strain-limits.ts derives both, and the turn):
//
//   A: σ_max(F) ≤ s_max          B: ½ (RᵀF + FᵀR) ⪰ s_min I
//   Z = F + κ Λ̂,   Λ = (Z − P(Z)) / κ,   y_k −= w_k (Λ − Λ̂) b_k,   P the nearest point of the set
//
// Λ̂ = Λ + β (Λ − Λ_before) is the extrapolated multiplier: y was extrapolated by the same β (pull-back/momentum.wgsl). Pass 0 of a
// step moves y by the multipliers of the last step, of which shares.wgsl then takes its share.
//
// The elements of a colour share no movable vertex, so that their order does not matter. Every so many sweeps look at all
// elements and list those that act, colour by colour, as pull-back/edge-limits.wgsl does with edges. `strainsWide`, one thread
// an element: one colour. `strainsTail`: the colours at the end, one after the other, in one workgroup; it comes last, and
// empties the lists where the next sweep makes new ones.
//
// In: strainElements, strainColours, inverseMass, control. In and out: y, strainState, strainActive (how many of each colour
// act, and which). Mirrors sweepStrains (src/solver/cpu/sweep-strains.ts) with boundStretch and boundShrink of
// src/solver/cpu/strain-tetrahedron.ts for all elements.
// #include "common/dispatch.wgsl"
@group(0) @binding(0) var<uniform> control: ControlView;
@group(0) @binding(1) var<uniform> pullBack: PullBack;
@group(0) @binding(2) var<uniform> strainRange: EdgeRange;
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(4) var<storage, read> strainElements: array<StrainElement>;
@group(0) @binding(5) var<storage, read_write> strainState: array<StrainState>;
@group(0) @binding(6) var<storage, read> strainColours: array<u32>;
@group(0) @binding(7) var<storage, read_write> strainActive: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read> inverseMass: array<f32>;
// #include "strain/element.wgsl"
// #include "strain/point-of-y.wgsl"
// #include "strain/state.wgsl"
// #include "pull-back/passes.wgsl"

// y_k ← y_k − w_k Δ b_k
fn moveCorners(element: StrainElement, change: mat3x3f) {
  var opposite = vec3f(0.0);
  for (var n = cornerCount(element); n > 0u; n--) {
    // The first corner comes last: b_0 = −Σ b_k.
    let slot = n - 1u;
    let v = element.corners[slot];
    var m = -opposite;
    if (slot > 0u) {
      m = change * element.b[slot - 1u];
      opposite += m;
    }
    let w = inverseMass[v];
    if (w > 0.0) {
      y[v] = vec4f(y[v].xyz - w * m, 0.0);
    }
  }
}

// Λ of a set after its turn, and whether the element acts.
struct Turn {
  push: mat3x3f,
  acts: bool,
}

// Σ share_i M v_i v_iᵀ
fn alongVectors(m: mat3x3f, vectors: mat3x3f, share: vec3f) -> mat3x3f {
  let scaled = mat3x3f(share.x * vectors[0], share.y * vectors[1], share.z * vectors[2]);
  return m * (scaled * transpose(vectors));
}

fn boundStretch(f: mat3x3f, begun: mat3x3f, most: f32, kappa: f32) -> Turn {
  let wasPushing = !isZero(begun);
  let z = f + kappa * begun;
  let near = NEAR_LIMIT * most;
  if (!wasPushing && dot(z[0], z[0]) + dot(z[1], z[1]) + dot(z[2], z[2]) <= near * near) {
    return Turn(begun, false);
  }
  let eigen = eigenOfGram(z);
  let largest = max(eigen.values.x, max(eigen.values.y, eigen.values.z));
  let limit = vec3f(most * most);
  let share = select(vec3f(0.0), vec3f(1.0) - most / sqrt(max(eigen.values, limit)), eigen.values > limit);
  return Turn(alongVectors(z, eigen.vectors, share / kappa), wasPushing || largest > near * near);
}

fn boundShrink(f: mat3x3f, begun: mat3x3f, frame: mat3x3f, ofTriangle: bool, least: f32, kappa: f32) -> Turn {
  let wasPushing = !isZero(begun);
  let z = f + kappa * begun;
  let near = least / NEAR_LIMIT;
  let product = transpose(frame) * z;
  var diagonal = vec3f(product[0].x, product[1].y, product[2].z);
  let off = 0.5 * vec3f(product[2].y + product[1].z, product[2].x + product[0].z, product[1].x + product[0].y);
  if (ofTriangle) {
    // Its third strain has no limit: a number above all that do.
    diagonal.z = abs(diagonal.x) + abs(diagonal.y) + 2.0 * abs(off.z) + 2.0 * near;
  }
  // Gershgorin: no eigenvalue is less than this.
  let aside = max(abs(off.z) + abs(off.y), max(abs(off.z) + abs(off.x), abs(off.y) + abs(off.x)));
  if (!wasPushing && min(diagonal.x, min(diagonal.y, diagonal.z)) - aside > near) {
    return Turn(begun, false);
  }
  let eigen = eigenOf(diagonal, off);
  let smallest = min(eigen.values.x, min(eigen.values.y, eigen.values.z));
  let share = min(vec3f(0.0), eigen.values - least);
  return Turn(alongVectors(frame, eigen.vectors, share / kappa), wasPushing || smallest < near);
}

// Whether the element acts.
fn projectElement(e: u32) -> bool {
  let element = strainElements[e];
  let upper = strainState[e].upper;
  let lower = strainState[e].lower;
  if (control.sweepsDone == 0u) {
    if (pullBack.phase == PHASE_PULL) {
      moveCorners(element, upper + lower);
    }
    return false;
  }
  let range = MAX_STRAIN_SLACK * (min(element.most, 2.0) - element.least);
  let short = min(pullBack.slack * sqrt(element.kappa), range);
  var acts = false;
  if (element.most < UNLIMITED) {
    let begun = upper + control.momentum * (upper - strainState[e].upperBefore);
    let turn = boundStretch(deformationOf(element, 0u), begun, element.most - short, element.kappa);
    strainState[e].upper = turn.push;
    strainState[e].upperBefore = upper;
    acts = turn.acts;
    let change = turn.push - begun;
    if (!isZero(change)) {
      moveCorners(element, change);
    }
  }
  if (element.least > 0.0) {
    let begun = lower + control.momentum * (lower - strainState[e].lowerBefore);
    let frame = strainState[e].frame;
    let turn = boundShrink(deformationOf(element, 0u), begun, frame, isTriangle(element), element.least + short, element.kappa);
    strainState[e].lower = turn.push;
    strainState[e].lowerBefore = lower;
    acts = acts || turn.acts;
    let change = turn.push - begun;
    if (!isZero(change)) {
      moveCorners(element, change);
    }
  }
  return acts;
}

// The elements of a colour from the n-th on, every so-many-th.
fn sweepColour(colour: u32, begin: u32, stride: u32) {
  let isComplete = isCompletePass(control.sweepsDone);
  let first = strainColours[colour];
  let listed = pullBack.strainColours + first;
  let looksAtAll = isComplete || control.sweepsDone == 0u;
  let count = select(atomicLoad(&strainActive[colour]), strainColours[colour + 1u] - first, looksAtAll);
  for (var n = begin; n < count; n += stride) {
    var e = first + n;
    if (!looksAtAll) {
      e = atomicLoad(&strainActive[listed + n]);
    }
    if (projectElement(e) && isComplete) {
      atomicStore(&strainActive[listed + atomicAdd(&strainActive[colour], 1u)], e);
    }
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn strainsWide(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  if (control.state == RUNNING) {
    sweepColour(strainRange.firstColour, linearIndex(group, groups, local), WORKGROUP_SIZE * groups.x * groups.y);
  }
}

@compute @workgroup_size(TAIL_THREADS)
fn strainsTail(@builtin(local_invocation_index) local: u32) {
  if (control.state != RUNNING) {
    return;
  }
  for (var colour = strainRange.firstColour; colour < strainRange.endColour; colour++) {
    storageBarrier();
    sweepColour(colour, local, TAIL_THREADS);
  }
  storageBarrier();
  if (isCompletePass(control.sweepsDone + 1u)) {
    for (var colour = local; colour < pullBack.strainColours; colour += TAIL_THREADS) {
      atomicStore(&strainActive[colour], 0u);
    }
  }
}
