// What runs the queue of a contact sweep binds (backward/run-queue.wgsl, which says what the queue is), beside `motions`
// (common/motions.wgsl), which the kernel that includes it binds: some of them write it.
//
// In: motions (x), pairVertex, pairNormal; followers (contacts-links.wgsl). In and out: y, candidates (λ), contacts (waits,
// queue and counts), control.
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;
@group(0) @binding(4) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(5) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> candidates: array<vec4u>;
// of backward/contacts-links.wgsl: followers, waits, counts, and the queue, a round's contacts behind those of the round before
@group(0) @binding(7) var<storage, read_write> contacts: array<atomic<u32>>;
