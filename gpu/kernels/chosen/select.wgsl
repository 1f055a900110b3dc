// Which candidates of a step become contacts, their rows and the order of their sweep, in one workgroup: what afterGeometry, count, offsets, fill,
// selectUnique, rank, contactRows, listRows and linkRows do one after the other (backward/contacts-select.wgsl and those after it), by the same functions. Where
// candidates are few, nine dispatches cost more than their work. It takes any number of them; the host records it where the last step had few, and a step with
// more pauses (control/take-candidates.wgsl), for a workgroup would take long.
//
// Two things differ, and nothing that is decided depends on either: places in lists and queues depend on the order of the threads, here as there; and
// the room of a vertex's list is reserved by the candidate that was counted first there, so that vertices without candidates are not visited.
//
// In: x, pairVertex, pairNormal, inverseMass, vertexStep.flags, edgeColours. In and out: control, candidates, lists, contacts. Out: stepArguments,
// candidateArguments. Mirrors selectContacts and fillRows (src/solver/cpu/select-contacts.ts, contact-rows.ts).
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

// Every adapter allows as many; those that allow more get more (gpu/device/kernel.ts).
override SERIAL_THREADS: u32 = TAIL_THREADS;

// Candidates to choose from; 0 where the step does not go on.
var<workgroup> found: u32;

// Room for the lists of the vertices at which this candidate was the first.
fn reserveLists(c: u32) {
  let ids = pairVertex[pairOf(candidates[c].entry)];
  for (var s = 0u; s < 4u; s++) {
    if (((candidates[c].place >> s) & 1u) == 1u) {
      let length = atomicLoad(&lists[ids[s]].count);
      lists[ids[s]].offset = atomicAdd(&control.listTop, length);
    }
  }
}

@compute @workgroup_size(SERIAL_THREADS)
fn selectAlone(@builtin(local_invocation_index) local: u32) {
  if (local == 0u) {
    let all = atomicLoad(&control.candidateCount);
    found = select(0u, all, takeCandidates());
  }
  let candidateCount = workgroupUniformLoad(&found);
  for (var c = local; c < candidateCount; c += SERIAL_THREADS) {
    // Until it is a row its place says where it was the first.
    candidates[c].place = countCandidate(c);
  }
  storageBarrier();
  for (var c = local; c < candidateCount; c += SERIAL_THREADS) {
    reserveLists(c);
  }
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
    if (isKept(c)) {
      contacts[queueAt(atomicAdd(&control.keptCount, 1u))] = c;
    }
  }
  storageBarrier();
  let kept = atomicLoad(&control.keptCount);
  for (var n = local; n < kept; n += SERIAL_THREADS) {
    let c = contacts[queueAt(n)];
    if (makeRow(c)) {
      contacts[rowAt(atomicAdd(&control.rowCount, 1u))] = c;
    }
  }
  storageBarrier();
  let rows = atomicLoad(&control.rowCount);
  for (var n = local; n < rows; n += SERIAL_THREADS) {
    listRow(n);
  }
  storageBarrier();
  for (var n = local; n < rows; n += SERIAL_THREADS) {
    let c = contacts[rowAt(n)];
    if (link(c) == 0u) {
      contacts[queueAt(atomicAdd(&control.readyCount, 1u))] = c;
    }
  }
}
