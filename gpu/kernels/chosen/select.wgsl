// Which candidates of a step become contacts, their rows and the order of their sweep, by the functions of backward/contacts-select.wgsl and those after it.
// chosen/geometry.wgsl has counted the candidates at their vertices. Each in one workgroup:
//
//   reserveLists   the room of the vertices' lists: what afterGeometry and offsets do; fill, selectUnique, chooseRows (chosen/rows.wgsl) and linkRows follow
//   selectAlone    all of it. Where candidates are few, six dispatches cost more than their work. It takes any number of them; the host records it where the
//                  last step had few, and a step with more pauses (control/take-candidates.wgsl), for a workgroup would take long
//
// Two things differ from what those kernels do, and nothing that is decided depends on either: places in lists and queues depend on the order of the threads, here as
// there; and the room of a vertex's list is reserved by the candidate that was counted first there, so that vertices without candidates are not visited.
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
fn reserveListsOf(c: u32) {
  let ids = pairVertex[pairOf(candidates[c].entry)];
  for (var s = 0u; s < 4u; s++) {
    if (((candidates[c].place >> s) & 1u) == 1u) {
      let length = atomicLoad(&lists[ids[s]].count);
      lists[ids[s]].offset = atomicAdd(&control.listTop, length);
    }
  }
}

// The room of all lists. Returns the candidates to choose from.
fn reserveAll(local: u32) -> u32 {
  if (local == 0u) {
    let all = atomicLoad(&control.candidateCount);
    found = select(0u, all, takeCandidates());
  }
  let candidateCount = workgroupUniformLoad(&found);
  for (var c = local; c < candidateCount; c += SERIAL_THREADS) {
    reserveListsOf(c);
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
