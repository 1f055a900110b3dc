// The place at a share t of the way from one place to another. Targets may lie so far away that their difference has no
// float32: it is halved. t = 1 is the other place, bit for bit.
fn placeBetween(here: vec3f, end: vec3f, t: f32) -> vec3f {
  let half = 0.5 * end - 0.5 * here;
  return select(here + 2.0 * (t * half), end, t == 1.0);
}
