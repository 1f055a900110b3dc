// #include "pull-back/sums.wgsl"
// #include "pull-back/sum-groups.wgsl"
// The sum of what `groups` workgroups have left; for the first thread only.
fn sumOfParts(groups: u32, local: u32) -> vec4f {
  var own = vec4f(0.0);
  for (var n = local; n < groups; n += WORKGROUP_SIZE) {
    own += sums[n];
  }
  return sumOfGroup(own, local);
}
