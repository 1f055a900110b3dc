// R of each element where the sweeps of a step begin, one thread an element, and its multipliers times the share of its
// component: the rotation of y moved by them, which is about what the sweeps will find. Where that is flat, or a triangle whose
// normal is opposed to that of y before, the rotation of y before is taken; if that is flat too, the last R, or that of x.
// After a step that was poor because of strains over their limits, the rotation of the best state is taken, unless that is
// flat. Where only edges and strains are shortened, multipliers begin at 0.
//
// R of the polar decomposition F = R S, a rotation also where F turns the element inside out: with the singular vectors F v_i =
// σ_i u_i, R = Σ u_i v_iᵀ, u of the least σ of a tetrahedron the cross product of the two others.
//
// In: strainElements, strainShares, x, yFrom (y before), y (y moved), best, control. In and out: strainState. Mirrors
// StrainLimits.begin (src/solver/cpu/strain-limits.ts) and polarRotation (strain/deformation.ts).
// #include "common/dispatch.wgsl"
@group(0) @binding(0) var<uniform> control: ControlView;
@group(0) @binding(1) var<uniform> pullBack: PullBack;
@group(0) @binding(2) var<storage, read> strainElements: array<StrainElement>;
@group(0) @binding(3) var<storage, read_write> strainState: array<StrainState>;
@group(0) @binding(4) var<storage, read> strainShares: array<StrainShares>;
@group(0) @binding(5) var<storage, read> x: array<f32>;
@group(0) @binding(6) var<storage, read> yFrom: array<vec4f>;
@group(0) @binding(7) var<storage, read> y: array<vec4f>;
@group(0) @binding(8) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(9) var<storage, read> best: array<f32>;
// #include "strain/element.wgsl"
// #include "strain/state.wgsl"

const OF_X: u32 = 0u;
const BEFORE: u32 = 1u;
const MOVED: u32 = 2u;
const OF_BEST: u32 = 3u;

fn pointAt(v: u32, which: u32) -> vec3f {
  let k = 3u * v;
  // yFrom has the vertices that move; the others are the same in y.
  if (which == BEFORE && inverseMass[v] > 0.0) {
    return yFrom[v].xyz;
  }
  if (which == OF_X) {
    return vec3f(x[k], x[k + 1u], x[k + 2u]);
  }
  if (which == OF_BEST) {
    return vec3f(best[k], best[k + 1u], best[k + 2u]);
  }
  return y[v].xyz;
}

fn outer(u: vec3f, v: vec3f) -> mat3x3f {
  return mat3x3f(v.x * u, v.y * u, v.z * u);
}

struct Rotation {
  r: mat3x3f,
  // false: the second singular value is less than FLATTEST_STRAIN
  exists: bool,
}

fn polarRotation(f: mat3x3f, ofTriangle: bool) -> Rotation {
  let eigen = eigenOfGram(f);
  let d = eigen.values;
  // The third vector of a triangle is e_3, which F takes to 0. a, b, c is a cyclic order, so that v_a × v_b = v_c.
  var c = 2u;
  if (!ofTriangle) {
    c = select(select(2u, 1u, d.y < d.z), 0u, d.x < min(d.y, d.z));
  }
  let va = eigen.vectors[(c + 1u) % 3u];
  let vb = eigen.vectors[(c + 2u) % 3u];
  let a = f * va;
  let b = f * vb;
  let la = length(a);
  let lb = length(b);
  if (!(min(la, lb) > FLATTEST_STRAIN)) {
    return Rotation(mat3x3f(), false);
  }
  let u = a / la;
  let w = b / lb;
  var r = outer(u, va) + outer(w, vb);
  if (!ofTriangle) {
    r += outer(cross(u, w), eigen.vectors[c]);
  }
  return Rotation(r, true);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn findFrames(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let e = linearIndex(group, groups, local);
  if (control.state != RUNNING || e >= arrayLength(&strainElements)) {
    return;
  }
  let element = strainElements[e];
  let share = select(0.0, strainShares[element.component].ofMultipliers, pullBack.phase == PHASE_PULL);
  let upper = share * strainState[e].upper;
  let lower = share * strainState[e].lower;
  strainState[e].upper = upper;
  strainState[e].lower = lower;
  strainState[e].upperBefore = upper;
  strainState[e].lowerBefore = lower;

  let ofTriangle = isTriangle(element);
  if (control.isThorough == 1u && pullBack.phase == PHASE_PULL) {
    let kept = polarRotation(deformationOf(element, OF_BEST), ofTriangle);
    if (kept.exists) {
      strainState[e].frame = kept.r;
      return;
    }
  }
  var rotations: array<Rotation, 3>;
  var upright: vec3<bool>;
  for (var which = OF_X; which <= MOVED; which++) {
    let f = deformationOf(element, which);
    rotations[which] = polarRotation(f, ofTriangle);
    upright[which] = ofTriangle || determinant(f) > 0.0;
  }
  let before = rotations[BEFORE];
  let moved = rotations[MOVED];
  let faces = dot(cross(before.r[0], before.r[1]), cross(moved.r[0], moved.r[1])) > 0.0;
  let isMovedFit = moved.exists && select(upright[MOVED], !before.exists || faces, ofTriangle);
  if (isMovedFit) {
    strainState[e].frame = moved.r;
  } else if (before.exists && upright[BEFORE]) {
    strainState[e].frame = before.r;
  } else if (rotations[OF_X].exists) {
    strainState[e].frame = rotations[OF_X].r;
  } else if (before.exists) {
    strainState[e].frame = before.r;
  }
}
