// Counts a candidate at its vertices (backward/contacts-select.wgsl), for kernels that bind control, pairVertex, candidates,
// vertexStep and lists.

// A candidate's vertices, what each weighs and is (vertexStep.flags).
struct Slots {
  ids: vec4i,
  weight: vec4f,
  flags: vec4u,
  corners: u32,
  // index of the pair
  p: u32,
}

fn slotsOf(c: u32) -> Slots {
  let entry = candidates[c].entry;
  let p = pairOf(entry);
  var slots = Slots(pairVertex[p], candidates[c].weight, vec4u(0u), cornersOf(kindOf(entry)), p);
  for (var s = 0u; s < slots.corners; s++) {
    slots.flags[s] = vertexStep[slots.ids[s]].flags;
  }
  return slots;
}

fn movable(slots: Slots) -> vec4<bool> {
  return (slots.flags & vec4u(MOVABLE)) != vec4u(0u);
}

// Stuck vertices list all their candidates, for backward/slide.wgsl.
fn listedSlots(slots: Slots) -> vec4<bool> {
  return movable(slots) & ((slots.weight > vec4f(0.0)) | ((slots.flags & vec4u(STUCK)) != vec4u(0u)));
}

// `count` of one candidate. Returns in which of its slots it is the first of the vertex, a bit each.
fn countCandidate(c: u32) -> u32 {
  var firsts = 0u;
  let slots = slotsOf(c);
  let isListed = listedSlots(slots);
  for (var s = 0u; s < slots.corners; s++) {
    if (isListed[s]) {
      if (atomicAdd(&lists[slots.ids[s]].count, 1u) == 0u) {
        firsts |= 1u << s;
      }
    }
  }
  return firsts;
}
