// The end of the backward step and the beginning of the forward step of Algorithm 1, one thread a vertex:
// backward/slide.wgsl, then forward/guard.wgsl, of which the second reads only that part of y that the first has
// written for the same vertex. Before both it clears the counter of stopped steps where a search has made it void, for
// joined/commit-and-watch.wgsl, whose threads count for each other's vertices.
//
// In and out besides: progress.stopped. Mirrors Slide.apply and Forward.#guard (src/solver/cpu/slide.ts, forward.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// #include "common/lengths.wgsl"
// #include "common/range.wgsl"
// #include "common/box-share.wgsl"
@group(0) @binding(1) var<storage, read> control: ControlView;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4u>;
@group(0) @binding(4) var<storage, read> goal: array<u32>;
@group(0) @binding(5) var<storage, read> box: array<f32>;
@group(0) @binding(6) var<storage, read_write> vertexStep: array<VertexStep>;
@group(0) @binding(7) var<storage, read_write> motions: array<vec4f>;
@group(0) @binding(8) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(9) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(10) var<storage, read_write> lists: array<ContactList>;
@group(0) @binding(11) var<storage, read> candidates: array<Candidate>;
@group(0) @binding(12) var<storage, read_write> contacts: array<u32>;
@group(0) @binding(13) var<storage, read_write> progress: array<VertexProgress>;
// #include "backward/slide-vertex.wgsl"
// #include "forward/guard-vertex.wgsl"

@compute @workgroup_size(WORKGROUP_SIZE)
fn slideAndGuard(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount) {
    return;
  }
  if (control.clearsStopped == 1u) {
    progress[i].stopped = 0u;
  }
  if ((atomicLoad(&vertexStep[i].flags) & STUCK) != 0u) {
    slideVertex(i);
  }
  guardVertex(i);
}
