// The share of the motion on one axis that stays inside the box.
fn boxShare(here: f32, to: f32, lo: f32, hi: f32) -> f32 {
  if (to > hi) {
    return max(0.0, (hi - here) / (to - here) * FACE_SHARE);
  }
  if (to < lo) {
    return max(0.0, (lo - here) / (to - here) * FACE_SHARE);
  }
  return 1.0;
}
