// The sort of a vertex in `motions` (common/motions.wgsl): positive where it moves.
const IMMOVABLE_VERTEX: f32 = 1.0;
const MOVABLE_VERTEX: f32 = 2.0;
const STUCK_VERTEX: f32 = 3.0;
