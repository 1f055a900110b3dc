// Opens the pull-back, or a phase of it that begins with the best state, for strain limits. `openStrains`, one thread an
// element, or a component: multipliers 0, no R where the pull-back begins, whole shares, no element acts. `freeEdges`, one
// thread an edge: edges of limited elements have no limit σ L* (src/mesh/limited-edges.ts).
//
// In: freedEdges, control.phase. In and out: strainState. Out: strainShares, strainActive, heldStrains; edgeRow (w);
// control.unitBits. Mirrors the constructor and reset of StrainLimits (src/solver/cpu/strain-limits.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "strain/state.wgsl"
@group(0) @binding(1) var<storage, read_write> strainState: array<StrainState>;
@group(0) @binding(2) var<storage, read_write> strainShares: array<StrainShares>;
@group(0) @binding(3) var<storage, read_write> strainActive: array<u32>;
@group(0) @binding(4) var<storage, read_write> heldStrains: array<u32>;
@group(0) @binding(5) var<storage, read_write> edgeRow: array<vec4f>;
// how many, and which
@group(0) @binding(6) var<storage, read> freedEdges: array<u32>;
@group(0) @binding(7) var<uniform> pullBack: PullBack;
@group(0) @binding(8) var<storage, read_write> control: Control;

// What steps before have found serves an element that is flat (frames.wgsl).
fn keepsFrames() -> bool {
  return control.phase == PHASE_RESUME || control.phase == PHASE_OTHERS || control.phase == PHASE_RELEASE;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn openStrains(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let e = linearIndex(group, groups, local);
  if (e < arrayLength(&strainState)) {
    var state = StrainState();
    if (keepsFrames()) {
      state.frame = strainState[e].frame;
    }
    strainState[e] = state;
  }
  if (e < arrayLength(&strainShares)) {
    strainShares[e] = StrainShares(1.0, 1.0, 1.0, 1.0);
  }
  // The unit of Φ (pull-back/merit-scale.wgsl) is at least an edge: a strain moves vertices by as much wherever y* is.
  if (e == 0u) {
    atomicMax(&control.unitBits, bitcast<u32>(1.0));
  }
  // Counts of the colours, of which none is empty.
  if (e < pullBack.strainColours) {
    strainActive[e] = 0u;
    heldStrains[e] = 0u;
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn freeEdges(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n < freedEdges[0]) {
    edgeRow[freedEdges[n + 1u]].w = -1.0;
  }
}
