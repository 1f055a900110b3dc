// What holds for one request; lengths in engine units. The host fills it by field name (gpu/kernels/structs.ts).
@group(0) @binding(0) var<uniform> parameters: Parameters;

// Three, which the compiler does not know: a loop whose length it knows is written out, and every read in it stands in the
// machine code as often, which is what a software driver takes its time for (docs/method.md, cold start). Every mesh has a
// vertex.
fn axes() -> u32 {
  return 3u * min(parameters.vertexCount, 1u);
}
