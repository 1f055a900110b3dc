// Which candidates of a step become contacts, their rows and the order of their sweep, by the functions of
// backward/contacts-select.wgsl and those after it. chosen/geometry.wgsl has counted the candidates at their vertices. Each in
// one workgroup:
//
//   reserveLists   the room of the vertices' lists: what afterGeometry and offsets do; fill, selectUnique, chooseRows
//                  (chosen/rows.wgsl) and linkRows follow
//   selectAlone    all of it. Where candidates are few, six dispatches cost more than their work. It takes any number of them;
//                  the host records it where the last step had few, and a step with more pauses (control/take-candidates.wgsl),
//                  for a workgroup would take long
//
// Two things differ from what those kernels do, and nothing that is decided depends on either: places in lists and queues
// depend on the order of the threads, here as there; and the room of a vertex's list is reserved by the candidate that was
// counted first there, so that vertices without candidates are not visited.
//
// In: x, pairVertex, pairNormal, inverseMass, vertexStep.flags, edgeColours. In and out: control, candidates, lists, contacts.
// Out: stepArguments, candidateArguments. Mirrors selectContacts and fillRows (src/solver/cpu/select-contacts.ts,
// contact-rows.ts).
// #include "common/dispatch.wgsl"
// #include "common/parameters.wgsl"
// #include "common/pair.wgsl"
@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read_write> stepArguments: array<u32>;
@group(0) @binding(3) var<storage, read_write> candidateArguments: array<u32>;
@group(0) @binding(4) var<storage, read> edgeColours: array<u32>;
@group(0) @binding(5) var<storage, read> x: array<f32>;
@group(0) @binding(6) var<storage, read> pairVertex: array<vec4i>;
@group(0) @binding(7) var<storage, read> pairNormal: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> candidates: array<Candidate>;
@group(0) @binding(9) var<storage, read> inverseMass: array<f32>;
@group(0) @binding(10) var<storage, read> vertexStep: array<VertexStepView>;
@group(0) @binding(11) var<storage, read_write> lists: array<ContactList>;
@group(0) @binding(12) var<storage, read_write> contacts: array<u32>;
// #include "backward/contact-words.wgsl"
// #include "control/arguments.wgsl"
// #include "control/take-candidates.wgsl"
// #include "backward/candidate-choice.wgsl"
// #include "backward/row-of-candidate.wgsl"
// #include "backward/links-of-row.wgsl"
// #include "common/append.wgsl"

// Every adapter allows this many threads; those that allow more use more (gpu/device/kernel.ts).
override SERIAL_THREADS: u32 = TAIL_THREADS;

// Candidates to choose from; 0 where the step does not go on.
var<workgroup> found: u32;

// How many candidates the list of this vertex has, where candidate c was the first there; else 0.
fn lengthToReserve(c: u32, slot: u32, v: i32) -> u32 {
  var length = 0u;
  if (((candidates[c].place >> slot) & 1u) == 1u) {
    length = atomicLoad(&lists[v].count);
  }
  return length;
}

fn settleList(v: i32, length: u32, offset: u32) {
  if (length > 0u) {
    lists[v].offset = offset;
  }
}

// The room of all lists, those of a candidate's vertices one behind the other. Returns the candidates to choose from.
fn reserveAll(local: u32) -> u32 {
  if (local == 0u) {
    let all = atomicLoad(&control.candidateCount);
    found = select(0u, all, takeCandidates());
  }
  let candidateCount = workgroupUniformLoad(&found);
  // All threads make all turns: all of a subgroup take part in reserving.
  for (var first = 0u; first < candidateCount; first += SERIAL_THREADS) {
    let c = first + local;
    var ids = vec4i(0);
    var lengths = vec4u(0u);
    if (c < candidateCount) {
      ids = pairVertex[pairOf(candidates[c].entry)];
      lengths = vec4u(
        lengthToReserve(c, 0u, ids.x),
        lengthToReserve(c, 1u, ids.y),
        lengthToReserve(c, 2u, ids.z),
        lengthToReserve(c, 3u, ids.w),
      );
    }
    let ends = vec4u(lengths.x, lengths.x + lengths.y, lengths.x + lengths.y + lengths.z, lengths.x + lengths.y + lengths.z + lengths.w);
    let begin = reserveRoom(&control.listTop, ends.w);
    settleList(ids.x, lengths.x, begin);
    settleList(ids.y, lengths.y, begin + ends.x);
    settleList(ids.z, lengths.z, begin + ends.y);
    settleList(ids.w, lengths.w, begin + ends.z);
  }
  return candidateCount;
}

@compute @workgroup_size(SERIAL_THREADS)
fn reserveLists(@builtin(local_invocation_index) local: u32) {
  reserveAll(local);
}

@compute @workgroup_size(SERIAL_THREADS)
fn selectAlone(@builtin(local_invocation_index) local: u32) {
  let candidateCount = reserveAll(local);
  storageBarrier();
  for (var c = local; c < candidateCount; c += SERIAL_THREADS) {
    fillCandidate(c);
  }
  storageBarrier();
  for (var c = local; c < candidateCount; c += SERIAL_THREADS) {
    judgeUnique(c);
  }
  storageBarrier();
  for (var c = local; c < candidateCount; c += SERIAL_THREADS) {
    if (isKept(c) && makeRow(c)) {
      let n = atomicAdd(&control.rowCount, 1u);
      contacts[rowAt(n)] = c;
      listRow(n);
    }
  }
  storageBarrier();
  let rows = atomicLoad(&control.rowCount);
  for (var n = local; n < rows; n += SERIAL_THREADS) {
    let c = contacts[rowAt(n)];
    if (link(c) == 0u) {
      contacts[queueAt(atomicAdd(&control.readyCount, 1u))] = c;
    }
  }
}
