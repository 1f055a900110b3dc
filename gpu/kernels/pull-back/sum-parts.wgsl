// #include "pull-back/sums.wgsl"
// #include "pull-back/sum-groups.wgsl"
// The sum of what `groups` workgroups have left, from the part `first` on; for the first thread only.
fn sumOfPartsFrom(first: u32, groups: u32, local: u32) -> vec4f {
  var own = vec4f(0.0);
  for (var n = local; n < groups; n += WORKGROUP_SIZE) {
    own += sums[first + n];
  }
  return sumOfGroup(own, local);
}

fn sumOfParts(groups: u32, local: u32) -> vec4f {
  return sumOfPartsFrom(0u, groups, local);
}
