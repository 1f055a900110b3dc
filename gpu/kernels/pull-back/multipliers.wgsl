// The multipliers of the contact rows of a step of the pull-back, one thread a row. `takeMultipliers`: they begin with a share
// of those that the step before has kept. `keepMultipliers`: λ of each row, for the next step. Between the two every pair's is
// set to 0 (pull-back/momentum.wgsl, small/sweeps.wgsl), so that a pair has 0 unless it was a row of the last step;
// `dropMultipliers`, one thread a pair, does so in steps of Algorithm 1, which take none. A search of a part takes multipliers
// along (pull-back/carry-multipliers.wgsl); after one of everything none counts (control.keptAt = 0).
//
// In: contacts (row), control. In and out: candidates, kept (λ of each pair). Mirrors WarmContacts.begin and end
// (src/solver/cpu/warm-contacts.ts).
// #include "common/dispatch.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<uniform> control: ControlView;
@group(0) @binding(2) var<uniform> pullBack: PullBack;
@group(0) @binding(4) var<storage, read_write> candidates: array<vec4u>;
@group(0) @binding(5) var<storage, read> contacts: array<u32>;
@group(0) @binding(6) var<storage, read_write> kept: array<f32>;
// #include "backward/contact-words.wgsl"
// #include "backward/swept-candidate.wgsl"
// #include "pull-back/multiplier-of-row.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn takeMultipliers(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n >= control.rowCount) {
    return;
  }
  let c = contacts[rowAt(n)];
  takeMultiplier(c);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn keepMultipliers(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n >= control.rowCount) {
    return;
  }
  let c = contacts[rowAt(n)];
  keepMultiplier(c);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn dropMultipliers(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let p = linearIndex(group, groups, local);
  if (p < control.pairCount) {
    kept[p] = 0.0;
  }
}
