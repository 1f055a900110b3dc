// The work of backward/contacts-select.wgsl on one candidate, for kernels with the same bindings.
// #include "backward/candidate-slots.wgsl"

// Key of an entry: the bits of its distance, whose order is that of the numbers since none is negative; NO_KEY, above all
// of them, for an entry that neither ousts a duplicate nor counts among the closest.
const NO_KEY: u32 = 0xffffffffu;

fn hasMovableWeight(slots: Slots) -> bool {
  return any(movable(slots) & (slots.weight >= vec4f(MIN_MOVABLE_WEIGHT)));
}

fn takingPart(slots: Slots) -> vec4<bool> {
  return (slots.weight > vec4f(0.0)) & movable(slots);
}

fn fillCandidate(c: u32) {
  let slots = slotsOf(c);
  let key = select(NO_KEY, keyOf(c), hasMovableWeight(slots));
  let isListed = listedSlots(slots);
  for (var s = 0u; s < slots.corners; s++) {
    if (isListed[s]) {
      let v = slots.ids[s];
      let place = lists[v].offset + atomicAdd(&lists[v].cursor, 1u);
      contacts[place] = c;
      contacts[keyAt(place)] = select(NO_KEY, key, slots.weight[s] > 0.0);
    }
  }
}

fn keyOf(c: u32) -> u32 {
  return bitcast<u32>(candidates[c].distance) & 0x7fffffffu;
}

// Ids of the vertices with non-zero weight, ascending, −1 in front where there are fewer than four.
fn featureKey(ids: vec4i, weight: vec4f) -> vec4i {
  var k = select(vec4i(-1), ids, weight > vec4f(0.0));
  k = vec4i(min(k.x, k.y), max(k.x, k.y), min(k.z, k.w), max(k.z, k.w));
  k = vec4i(min(k.x, k.z), min(k.y, k.w), max(k.x, k.z), max(k.y, k.w));
  return vec4i(k.x, min(k.y, k.z), max(k.y, k.z), k.w);
}

// Entries hold the kind above the index: they are compared by index only, as the reference does.
fn isCloser(place: u32, key: u32, p: u32) -> bool {
  let other = contacts[keyAt(place)];
  return other < key || (other == key && pairOf(candidates[contacts[place]].entry) < p);
}

fn judgeUnique(c: u32) {
  let slots = slotsOf(c);
  let isTaking = takingPart(slots);
  let isUnique = hasMovableWeight(slots) && isClosestOfItsKind(c, slots, isTaking);
  if (isUnique) {
    candidates[c].isUnique = 1u;
  }
  let isInVain = listedSlots(slots) & !(isTaking & vec4<bool>(isUnique));
  for (var s = 0u; s < slots.corners; s++) {
    if (isInVain[s]) {
      atomicSub(&lists[slots.ids[s]].cursor, 1u);
    }
  }
}

fn isClosestOfItsKind(c: u32, slots: Slots, isTaking: vec4<bool>) -> bool {
  // A duplicate is in the lists of all its movable vertices, so only the shortest one is searched.
  var v = 0;
  var shortest = 0xffffffffu;
  for (var s = 0u; s < slots.corners; s++) {
    if (isTaking[s]) {
      let length = atomicLoad(&lists[slots.ids[s]].count);
      if (length < shortest) {
        shortest = length;
        v = slots.ids[s];
      }
    }
  }
  let key = keyOf(c);
  let features = featureKey(slots.ids, slots.weight);
  let first = lists[v].offset;
  for (var place = first; place < first + shortest; place++) {
    if (isCloser(place, key, slots.p)) {
      let other = contacts[place];
      let ids = pairVertex[pairOf(candidates[other].entry)];
      if (all(featureKey(ids, candidates[other].weight) == features)) {
        return false;
      }
    }
  }
  return true;
}

// Among the closest at every movable vertex that it has.
fn isKept(c: u32) -> bool {
  if (candidates[c].isUnique == 0u) {
    return false;
  }
  let slots = slotsOf(c);
  let isTaking = takingPart(slots);
  let key = keyOf(c);
  for (var s = 0u; s < slots.corners; s++) {
    if (!isTaking[s]) {
      continue;
    }
    let v = slots.ids[s];
    if (atomicLoad(&lists[v].cursor) <= CONTACTS_PER_VERTEX) {
      continue;
    }
    var closer = 0u;
    let first = lists[v].offset;
    let end = first + atomicLoad(&lists[v].count);
    for (var place = first; place < end; place++) {
      if (isCloser(place, key, slots.p) && candidates[contacts[place]].isUnique == 1u) {
        closer++;
      }
    }
    if (closer >= CONTACTS_PER_VERTEX) {
      return false;
    }
  }
  return true;
}
