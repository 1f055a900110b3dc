// Of strain/element.wgsl: where a vertex is in y, the only state that the kernel knows.
fn pointAt(v: u32, which: u32) -> vec3f {
  return y[v].xyz;
}
