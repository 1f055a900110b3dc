// t of y_i before the sweeps of a step of the pull-back: y_i = x_i + t (y*_i − x_i), no longer than the longest motion; t = 1
// for a kinematic vertex and one that was not pushed lately, else τ. Targets may lie so far away that y* − x has no float32: it
// is halved.
// #include "common/lengths.wgsl"
// #include "pull-back/place.wgsl"
struct Rebuilt {
  share: f32,
  // |y* − x|, negative where the motion was not cut to the longest
  farAway: f32,
}

// Above any distance that counts, and finite when doubled.
const FARTHEST_HALF: f32 = 1e38;

fn shareOf(here: vec3f, end: vec3f, isFree: bool) -> Rebuilt {
  let half = 0.5 * end - 0.5 * here;
  let length = lengthOf(half);
  let share = select(pullBack.tau, 1.0, isFree);
  let longest = 0.5 * pullBack.longest;
  let isLeaping = share * length > longest;
  let t = select(share, longest / max(length, longest), isLeaping);
  let distance = 2.0 * min(length, FARTHEST_HALF);
  return Rebuilt(t, select(-distance, distance, isLeaping));
}
