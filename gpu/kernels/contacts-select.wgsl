// Which candidates become contacts of this step, one thread a listed pair (count) or a candidate (the others):
//
//   count   candidates of enough movable weight into rows (as a list), and how many each movable vertex has
//   fill    each vertex's list of its candidates
//   unique  near-duplicates (the same vertices with non-zero weight, met through several elements) count once, the closest
//   rank    a contact stays if it is among the CONTACTS_PER_VERTEX closest at every movable vertex it has
//
// "Closer" is by distance, then by index in P. The lists are filled in any order: they are only asked whether something
// better is in them, and how much, so that nothing depends on who came first. Beside each entry of a list stands its key,
// so that most entries are passed over by one number and without a look at their pair.
//
// In: pairVertex, motion.flags. In and out: pairWork.mark, lists, list, links (until contacts-links.wgsl uses it), rows.
// After `unique` lists.cursor is the number of unique contacts that weigh at the vertex. Mirrors selectContacts
// (src/solver/cpu/contacts.ts).
// #include "common/dispatch.wgsl"
// #include "common/control.wgsl"
// #include "common/pair.wgsl"
// #include "common/row-index.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(3) var<storage, read_write> pairWork: array<PairWork>;
@group(0) @binding(4) var<storage, read> motion: array<MotionView>;
@group(0) @binding(5) var<storage, read_write> lists: array<ContactList>;
// u32[4P] candidates of the vertices, one list after the other
@group(0) @binding(6) var<storage, read_write> list: array<u32>;
// u32[3P] the second third: candidates, the last: those that are kept
@group(0) @binding(7) var<storage, read_write> rows: array<u32>;
// u32[4P] the first four fifths: keys of the entries of list
@group(0) @binding(8) var<storage, read_write> links: array<u32>;

// A contact whose movable vertices all carry less weight than this is left to the forward step.
const MIN_MOVABLE_WEIGHT: f32 = 0.05;

// Key of an entry: the bits of its distance, whose order is that of the numbers since none is negative; NO_KEY, above all
// of them, for an entry that neither ousts a duplicate nor counts among the closest.
const NO_KEY: u32 = 0xffffffffu;

fn isMovable(v: i32) -> bool {
  return v >= 0 && (motion[max(v, 0)].flags & MOVABLE) != 0u;
}

// Stuck vertices list all their candidates, for slide.wgsl.
fn isListed(p: u32, ids: vec4i, s: u32) -> bool {
  return isMovable(ids[s]) && (pairWork[p].weight[s] > 0.0 || (motion[ids[s]].flags & STUCK) != 0u);
}

fn hasMovableWeight(p: u32, ids: vec4i) -> bool {
  for (var s = 0u; s < 4u; s++) {
    if (isMovable(ids[s]) && pairWork[p].weight[s] >= MIN_MOVABLE_WEIGHT) {
      return true;
    }
  }
  return false;
}

fn takesPart(p: u32, ids: vec4i, s: u32) -> bool {
  return pairWork[p].weight[s] > 0.0 && isMovable(ids[s]);
}

@compute @workgroup_size(64)
fn count(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n >= control.activeCount) {
    return;
  }
  // Listed pairs were all measured in this step: of their marks only this one says candidate.
  let p = rows[n] & INDEX_MASK;
  if (pairWork[p].mark != (CANDIDATE | control.clock)) {
    return;
  }
  let ids = pairVertex[p];
  var isOfUse = hasMovableWeight(p, ids);
  for (var s = 0u; s < 4u; s++) {
    isOfUse = isOfUse || (isMovable(ids[s]) && (motion[ids[s]].flags & STUCK) != 0u);
  }
  if (!isOfUse) {
    return;
  }
  rows[control.pairCapacity + atomicAdd(&control.candidateCount, 1u)] = p;
  for (var s = 0u; s < 4u; s++) {
    if (isListed(p, ids, s)) {
      atomicAdd(&lists[ids[s]].count, 1u);
    }
  }
}

@compute @workgroup_size(64)
fn fill(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n >= atomicLoad(&control.candidateCount)) {
    return;
  }
  let p = rows[control.pairCapacity + n];
  let ids = pairVertex[p];
  let key = select(NO_KEY, keyOf(p), hasMovableWeight(p, ids));
  for (var s = 0u; s < 4u; s++) {
    if (isListed(p, ids, s)) {
      let v = ids[s];
      let place = lists[v].offset + atomicAdd(&lists[v].cursor, 1u);
      list[place] = p;
      links[place] = select(NO_KEY, key, pairWork[p].weight[s] > 0.0);
    }
  }
}

fn keyOf(p: u32) -> u32 {
  return bitcast<u32>(pairWork[p].distance) & 0x7fffffffu;
}

// Ids of the vertices with non-zero weight, ascending, −1 in front where there are fewer than four.
fn featureKey(p: u32) -> vec4i {
  let ids = pairVertex[p];
  let weight = pairWork[p].weight;
  var k = vec4i(-1);
  for (var s = 0u; s < 4u; s++) {
    k[s] = select(-1, ids[s], weight[s] > 0.0);
  }
  k = vec4i(min(k.x, k.y), max(k.x, k.y), min(k.z, k.w), max(k.z, k.w));
  k = vec4i(min(k.x, k.z), min(k.y, k.w), max(k.x, k.z), max(k.y, k.w));
  return vec4i(k.x, min(k.y, k.z), max(k.y, k.z), k.w);
}

fn isCloser(place: u32, key: u32, p: u32) -> bool {
  let other = links[place];
  return other < key || (other == key && list[place] < p);
}

@compute @workgroup_size(64)
fn selectUnique(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n >= atomicLoad(&control.candidateCount)) {
    return;
  }
  let p = rows[control.pairCapacity + n];
  let ids = pairVertex[p];
  let isUnique = hasMovableWeight(p, ids) && isClosestOfItsKind(p, ids);
  if (isUnique) {
    pairWork[p].mark = UNIQUE | control.clock;
  }
  for (var s = 0u; s < 4u; s++) {
    if (isListed(p, ids, s) && !(isUnique && takesPart(p, ids, s))) {
      atomicSub(&lists[ids[s]].cursor, 1u);
    }
  }
}

fn isClosestOfItsKind(p: u32, ids: vec4i) -> bool {
  // A duplicate is in the lists of all its movable vertices: the shortest of them will do.
  var v = 0;
  var shortest = 0xffffffffu;
  for (var s = 0u; s < 4u; s++) {
    if (takesPart(p, ids, s)) {
      let length = atomicLoad(&lists[ids[s]].count);
      if (length < shortest) {
        shortest = length;
        v = ids[s];
      }
    }
  }
  let key = keyOf(p);
  let features = featureKey(p);
  let first = lists[v].offset;
  for (var place = first; place < first + shortest; place++) {
    if (isCloser(place, key, p) && all(featureKey(list[place]) == features)) {
      return false;
    }
  }
  return true;
}

@compute @workgroup_size(64)
fn rank(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n = linearIndex(group, groups, local);
  if (n >= atomicLoad(&control.candidateCount)) {
    return;
  }
  let p = rows[control.pairCapacity + n];
  let isUnique = pairWork[p].mark == (UNIQUE | control.clock);
  if (!isUnique) {
    return;
  }
  let ids = pairVertex[p];
  let key = keyOf(p);
  for (var s = 0u; s < 4u; s++) {
    if (!takesPart(p, ids, s)) {
      continue;
    }
    let v = ids[s];
    if (atomicLoad(&lists[v].cursor) <= CONTACTS_PER_VERTEX) {
      continue;
    }
    var closer = 0u;
    let first = lists[v].offset;
    let end = first + atomicLoad(&lists[v].count);
    for (var place = first; place < end; place++) {
      if (isCloser(place, key, p) && pairWork[list[place]].mark == (UNIQUE | control.clock)) {
        closer++;
      }
    }
    if (closer >= CONTACTS_PER_VERTEX) {
      return;
    }
  }
  rows[2u * control.pairCapacity + atomicAdd(&control.keptCount, 1u)] = p;
}
