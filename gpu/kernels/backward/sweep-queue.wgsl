// The queue of a contact sweep: a contact runs once those before it, in the order of their places, have run at every movable
// vertex it has, which gives what sweeping in that order gives. The kernel that includes it says what a projection does:
//
//   changeOf(c, state, value)   Δλ of candidate c, where the constraint has this value; keeps its λ
//
// In: x, pairVertex, pairNormal; followers (contacts-links.wgsl). In and out: y, candidates (λ), contacts (waits, queue and counts),
// control.
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(5) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> candidates: array<SweptCandidate>;
// of backward/contacts-links.wgsl: followers, waits, counts, and the queue, a round's contacts behind those of the round before
@group(0) @binding(7) var<storage, read_write> contacts: array<atomic<u32>>;
// the round of a whole dispatch; of the tail, its first one
@group(0) @binding(8) var<uniform> sweepRange: SweepRange;
// #include "backward/run-queue.wgsl"
