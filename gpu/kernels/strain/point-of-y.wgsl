// Of strain/element.wgsl: where a vertex is in y, the only state that the kernel knows.
fn pointAt(v: u32, which: u32) -> vec3f {
  let k = 3u * v;
  return vec3f(y[k], y[k + 1u], y[k + 2u]);
}
