// For kernels that bind x, the current state, as array<f32>.
fn pointOfX(v: u32) -> vec3f {
  return vec3f(x[3u * v], x[3u * v + 1u], x[3u * v + 2u]);
}

// #include "common/corners-at.wgsl"
