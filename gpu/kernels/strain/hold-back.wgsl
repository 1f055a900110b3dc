// Holds vertices back whose neighbours in an element are held: where corners are granted shares α of motions m that differ, F
// errs by about |m_i| (α_i − α_j) / ℓ. For α_i > α_j and i dynamic, α_i ← min(α_i, α_j + HELD_STRAIN ℓ / |m_i|), pass after
// pass until nothing changes. Safe, as pull-back/hold-back.wgsl: α only falls, and stays at least 0.
//
// `listHeldStrains`, one thread an element: lists the elements, colour by colour, that may shorten a step. α_j ≥ 0, so where
// α_i |m_i| ≤ HELD_STRAIN ℓ for every corner none is shortened, however far others fall. `holdBackStrains`: the passes, in one
// workgroup, through the colours upward and downward in turn. Elements of a colour share no vertex whose α they may change.
//
// In: motions (common/motions.wgsl), inverseMass, strainElements, strainColours, control. In and out: vertexStep.alpha,
// heldStrains (how many of each colour, and which; none afterwards). Mirrors StrainLimits.holdBack
// (src/solver/cpu/strain-limits.ts).
// #include "common/dispatch.wgsl"
// #include "common/lengths.wgsl"
@group(0) @binding(0) var<uniform> control: ControlView;
@group(0) @binding(1) var<storage, read> motions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> vertexStep: array<VertexStep>;
@group(0) @binding(3) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(4) var<storage, read> strainElements: array<StrainElement>;
@group(0) @binding(5) var<storage, read> strainColours: array<u32>;
@group(0) @binding(6) var<storage, read_write> heldStrains: array<atomic<u32>>;
@group(0) @binding(7) var<uniform> pullBack: PullBack;
// #include "strain/element.wgsl"

fn pointAt(v: u32, which: u32) -> vec3f {
  return motions[2u * v].xyz;
}

fn motionOf(v: u32) -> f32 {
  return lengthOf(motions[2u * v + 1u].xyz);
}

fn alphaOf(v: u32) -> f32 {
  return bitcast<f32>(atomicLoad(&vertexStep[v].alpha));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn listHeldStrains(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let e = linearIndex(group, groups, local);
  if (control.state != RUNNING || e >= arrayLength(&strainElements)) {
    return;
  }
  let element = strainElements[e];
  var farthest = 0.0;
  for (var s = 0u; s < cornerCount(element); s++) {
    let v = element.corners[s];
    farthest = max(farthest, select(0.0, alphaOf(v) * motionOf(v), inverseMass[v] > 0.0));
  }
  if (farthest > HELD_STRAIN * element.length) {
    let place = atomicAdd(&heldStrains[element.colour], 1u);
    atomicStore(&heldStrains[pullBack.strainColours + strainColours[element.colour] + place], e);
  }
}

// #include "pull-back/hold-back-passes.wgsl"

fn heldAt(n: u32) -> u32 {
  return atomicLoad(&heldStrains[n]);
}

fn emptyHeld(colour: u32) {
  atomicStore(&heldStrains[colour], 0u);
}

fn firstOfColour(colour: u32) -> u32 {
  return strainColours[colour];
}

fn shorten(e: u32) {
  let element = strainElements[e];
  var least = 1.0;
  for (var s = 0u; s < cornerCount(element); s++) {
    least = min(least, alphaOf(element.corners[s]));
  }
  for (var s = 0u; s < cornerCount(element); s++) {
    let v = element.corners[s];
    let old = alphaOf(v);
    let motion = motionOf(v);
    // Multiplied out: no motion is divided by.
    if (inverseMass[v] > 0.0 && (old - least) * motion > HELD_STRAIN * element.length) {
      let alpha = min(old, least + HELD_STRAIN * element.length / motion);
      if (alpha < old) {
        atomicStore(&vertexStep[v].alpha, bitcast<u32>(alpha) & 0x7fffffffu);
        atomicStore(&changes, 1u);
      }
    }
  }
}

@compute @workgroup_size(TAIL_THREADS)
fn holdBackStrains(@builtin(local_invocation_index) local: u32) {
  if (control.state == RUNNING) {
    shortenAll(pullBack.strainColours, local);
  }
}
