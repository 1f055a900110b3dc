// Binds the parameters of the request (gpu/kernels/structs.ts); the host fills them by field name (gpu/step).
@group(0) @binding(0) var<uniform> parameters: Parameters;

// 3, in a form that the compiler does not know: it unrolls a loop of known length, and software drivers take longest
// over repeated reads (docs/method.md, cold start). Every mesh has a vertex.
fn axes() -> u32 {
  return 3u * min(parameters.vertexCount, 1u);
}
