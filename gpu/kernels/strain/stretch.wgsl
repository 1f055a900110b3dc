// Parts of Σ (s ℓ · strain beyond a limit)² of y over every so-many-th element a thread, and the largest s · strain beyond a
// limit: what decides whether the sweeps of a step go on. s is the share of its way that the component of the element goes
// (shares.wgsl).
//
// In: strainElements, strainShares, y. In and out: strainProgress. Out: sums. Mirrors StrainLimits.#sumExcess
// (src/solver/cpu/strain-limits.ts).
// #include "common/dispatch.wgsl"
@group(0) @binding(1) var<storage, read> strainElements: array<StrainElement>;
@group(0) @binding(2) var<storage, read> strainShares: array<StrainShares>;
@group(0) @binding(3) var<storage, read> y: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> strainProgress: StrainProgress;
@group(0) @binding(5) var<storage, read_write> sums: array<vec4f>;
// #include "strain/element.wgsl"
// #include "strain/point-of-y.wgsl"
// #include "pull-back/sums.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn weighStretch(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  var own = 0.0;
  var worst = 0.0;
  let stride = WORKGROUP_SIZE * groups.x * groups.y;
  for (var e = linearIndex(group, groups, local); e < arrayLength(&strainElements); e += stride) {
    let element = strainElements[e];
    let excess = strainShares[element.component].ofMotions * excessOf(element, deformationOf(element, 0u));
    worst = max(worst, max(excess.x, excess.y));
    own += element.length * element.length * dot(excess, excess);
  }
  atomicMax(&strainProgress.worst, bitcast<u32>(worst) & 0x7fffffffu);
  let sum = sumOfGroup(vec4f(own, 0.0, 0.0, 0.0), local);
  if (local == 0u) {
    sums[foldedGroup(group, groups)] = sum;
  }
}
