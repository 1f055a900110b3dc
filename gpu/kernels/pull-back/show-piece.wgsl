// The state between two pieces of a forward step of the pull-back, one thread a vertex: a bit copy of x, for a request that
// asks for its path.
//
// In: x, control. Out: pieces, uint32[3V] after each piece but the last. Mirrors PullBackStep.forward
// (src/solver/cpu/pull-back-step.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
@group(0) @binding(1) var<storage, read> control: ControlView;
@group(0) @binding(2) var<storage, read> x: array<u32>;
@group(0) @binding(3) var<storage, read_write> pieces: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn showPiece(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount) {
    return;
  }
  // nextPiece has counted the piece that follows.
  let first = 3u * parameters.vertexCount * (control.furtherPieces - 1u);
  for (var k = 3u * i; k < 3u * i + axes(); k++) {
    pieces[first + k] = x[k];
  }
}
