// Adds to the parts of Φ, and of what it is above Φ of the best state (pull-back/merit.wgsl), those of strains beyond their
// limits, as lengths: Σ (ℓ · strain beyond a limit)² over every so-many-th element a thread.
//
// In: strainElements, x, best, control. In and out: sums. Mirrors StrainLimits.excess (src/solver/cpu/strain-limits.ts).
// #include "common/dispatch.wgsl"
@group(0) @binding(0) var<uniform> control: ControlView;
@group(0) @binding(1) var<storage, read> strainElements: array<StrainElement>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> best: array<f32>;
@group(0) @binding(4) var<storage, read_write> sums: array<vec4f>;
// #include "strain/element.wgsl"
// #include "pull-back/sums.wgsl"
// #include "pull-back/merit-scale.wgsl"

fn pointAt(v: u32, which: u32) -> vec3f {
  let k = 3u * v;
  return select(vec3f(x[k], x[k + 1u], x[k + 2u]), vec3f(best[k], best[k + 1u], best[k + 2u]), which == 1u);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn weighStrains(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let scale = meritScale(control.unitBits);
  var own = vec4f(0.0);
  let stride = WORKGROUP_SIZE * groups.x * groups.y;
  for (var e = linearIndex(group, groups, local); e < arrayLength(&strainElements); e += stride) {
    let element = strainElements[e];
    var present = vec2f(0.0);
    var earlier = vec2f(0.0);
    // 2, in a form that the compiler does not know: x, and the best state.
    for (var which = 0u; which < min(2u, arrayLength(&x)); which++) {
      earlier = present;
      present = scale * element.length * excessOf(element, deformationOf(element, 1u - which));
    }
    own += vec4f(0.0, dot(present, present), 0.0, dot(present - earlier, present + earlier));
  }
  let sum = sumOfGroup(own, local);
  if (local == 0u) {
    sums[foldedGroup(group, groups)] += sum;
  }
}
