// The contact rows of a step of the pull-back, one thread a row. `takeMultipliers`: they aim at their offset instead of δ_p,
//
//   c + J·(y − x) ≥ 0  with  c = d − o δ_p,
//
// and begin with a share of the multipliers that the step before has kept. `keepMultipliers`: λ of each row, for the next step. What
// a pair keeps counts only with the clock of that step, so nothing has to be cleared: a search moves pairs to other places, and
// then no multiplier counts (control.keptAt = 0).
//
// o is the contact offset over δ, the same for all pairs, or where parts have offsets of their own that of the pair: offset and δ of a
// side are the largest of its vertices, those of the pair the mean of both sides.
//
// In: contacts (row), pairVertex, pairNormal, offsets, control. In and out: candidates, kept. Mirrors WarmContacts.begin and end
// (src/solver/cpu/warm-contacts.ts), offsetShareOf (src/solver/part-offsets.ts).
// #include "common/dispatch.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<uniform> control: ControlView;
@group(0) @binding(2) var<uniform> pullBack: PullBack;
@group(0) @binding(3) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> candidates: array<Candidate>;
@group(0) @binding(5) var<storage, read> contacts: array<u32>;
@group(0) @binding(6) var<storage, read_write> kept: array<KeptMultiplier>;
@group(0) @binding(7) var<storage, read> pairVertex: array<vec4i>;
// offset and δ of each vertex
@group(0) @binding(8) var<storage, read> offsets: array<vec2f>;
// #include "backward/contact-words.wgsl"

// 1 − o
fn raiseOf(kind: u32, ids: vec4i) -> f32 {
  if (pullBack.hasOffsets == 0u) {
    return pullBack.raise;
  }
  var first = vec2f(0.0);
  var second = vec2f(0.0);
  for (var s = 0u; s < cornersOf(kind); s++) {
    let own = offsets[ids[s]];
    let isFirst = s < sideAOf(kind);
    first = select(first, max(first, own), isFirst);
    second = select(max(second, own), second, isFirst);
  }
  let both = first + second;
  return 1.0 - both.x / both.y;
}

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
  let entry = candidates[c].entry;
  let p = pairOf(entry);
  candidates[c].excess += raiseOf(kindOf(entry), pairVertex[p]) * pairNormal[p].w;
  let isKept = control.keptAt > 0u && kept[p].clock == control.keptAt;
  let lambda = select(0.0, pullBack.warmContacts * kept[p].lambda, isKept);
  candidates[c].lambda = lambda;
  candidates[c].before = lambda;
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
  kept[pairOf(candidates[c].entry)] = KeptMultiplier(max(0.0, candidates[c].lambda), control.clock);
}
