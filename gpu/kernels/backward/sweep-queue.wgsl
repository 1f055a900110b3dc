// The queue of a contact sweep. In Algorithm 1 a contact runs once those before it, in the order of their places, have run at
// every movable vertex it has, which gives what sweeping in that order gives; in the pull-back the sweep takes colour by colour
// (pull-back/colours.wgsl). The kernel that includes it says what a projection does, and what backward/rounds.wgsl asks for:
//
//   changeOf(c, state, value)   Δλ of candidate c, where the constraint has this value; keeps its λ
// #include "backward/queue-bindings.wgsl"
@group(0) @binding(2) var<storage, read> motions: array<vec4f>;
// the round of a whole dispatch; of the tail, its first one
@group(0) @binding(8) var<uniform> sweepRange: SweepRange;
// #include "backward/run-queue.wgsl"
