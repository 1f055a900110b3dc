// Writes x' = fl(x + α (y − x)), one thread a vertex; bit copies at α = 0 and α = 1 (Eq. 14; docs/method.md, S8). check.wgsl and
// commit.wgsl read the numbers back from memory before they count (S4).
//
// In: x, y, vertexStep. Out: next. Mirrors Forward.#write (src/solver/cpu/forward.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
// Words, not floats: copies must be bit copies.
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read> y: array<vec4u>;
@group(0) @binding(3) var<storage, read> vertexStep: array<VertexStepView>;
@group(0) @binding(4) var<storage, read_write> next: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn write(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(group, groups, local);
  if (i >= parameters.vertexCount) {
    return;
  }
  let bits = vertexStep[i].alpha;
  let isStill = bits == 0u || (vertexStep[i].flags & MOVING) == 0u;
  let alpha = bitcast<f32>(bits);
  for (var c = 0u; c < axes(); c++) {
    let k = 3u * i + c;
    if (isStill) {
      next[k] = x[k];
    } else if (bits == ONE_BITS) {
      next[k] = y[i][c];
    } else {
      let here = bitcast<f32>(x[k]);
      next[k] = bitcast<u32>(here + alpha * (bitcast<f32>(y[i][c]) - here));
    }
  }
}
