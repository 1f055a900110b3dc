// The sweeps of a step of Algorithm 1 where few edges act, in one workgroup: the projections of backward/edges.wgsl and
// backward/sweep.wgsl in the same order, by the same functions, less projections of edges that change nothing.
//
//   sweepListedEdges   the first sweep over the edges that listed/open-step.wgsl has listed
//   sweepListed        the sweeps over contacts, and over edges between them
//
// No projection is left out that would change something. A projection depends on λ of its edge and y of its ends. Until
// an end is touched, that is until its y changes, both have the values with which open-step.wgsl tested the edge: a
// projection that changed nothing then changes nothing now. In the first sweep an edge that has a touched end is listed
// before its colour's turn if its colour is a later one (touchEnds), and in the sweeps that follow, every edge with a
// touched end is listed.
//
// In: edgesAt; what backward/edges.wgsl and sweep-queue.wgsl read. In and out: y, edgeLambda, candidates (λ), contacts,
// edgeLists, control; vertexStep.flags and motions of the vertices that the first sweep moves. Mirrors EdgeLengths.sweep and
// Contacts.sweep (src/solver/cpu/edges.ts, contacts.ts).
// #include "backward/queue-bindings.wgsl"
@group(0) @binding(2) var<storage, read_write> motions: array<vec4f>;
@group(0) @binding(8) var<storage, read> edgeEnds: array<vec2u>;
@group(0) @binding(9) var<storage, read> edgeRow: array<vec4f>;
@group(0) @binding(10) var<storage, read_write> edgeLambda: array<f32>;
@group(0) @binding(11) var<storage, read> inverseMass: array<f32>;
// u32[colours + 1] first edge of each colour, in sweep order
@group(0) @binding(12) var<storage, read> edgeColours: array<u32>;
@group(0) @binding(13) var<storage, read_write> edgeLists: array<atomic<u32>>;
@group(0) @binding(14) var<storage, read> edgesAt: array<u32>;
@group(0) @binding(15) var<storage, read_write> vertexStep: array<VertexStep>;
// #include "backward/run-queue.wgsl"
// #include "backward/cold-change.wgsl"
// #include "backward/project-edge.wgsl"
// #include "listed/edge-lists.wgsl"
// #include "listed/edges-of-vertex.wgsl"

// Every adapter allows this many threads; those that allow more use more (gpu/device/kernel.ts).
override SERIAL_THREADS: u32 = TAIL_THREADS;

// The edge has moved its ends: edges of later colours at them may act.
fn touchEnds(e: u32, colour: u32) {
  let ends = edgeEnds[e];
  for (var side = 0u; side < 2u; side++) {
    let v = ends[side];
    if (inverseMass[v] > 0.0 && touch(v)) {
      enlistAt(v, edgeColours[colour + 1u]);
    }
  }
}

// Sweeps the edges that are listed, and empties the lists.
fn sweepEdges(local: u32, isFirst: bool) {
  for (var colour = 0u; colour < parameters.colours; colour++) {
    storageBarrier();
    let first = edgeListAt(colour);
    let count = atomicLoad(&edgeLists[edgeCountAt(colour)]);
    for (var n = local; n < count; n += SERIAL_THREADS) {
      let e = atomicLoad(&edgeLists[first + n]);
      if (projectEdge(e, isFirst)) {
        touchEnds(e, colour);
      }
    }
  }
  storageBarrier();
  if (local == 0u) {
    var swept = 0u;
    for (var colour = 0u; colour < parameters.colours; colour++) {
      swept += atomicExchange(&edgeLists[edgeCountAt(colour)], 0u);
    }
    atomicAdd(&edgeLists[0], 1u);
    control.sweptEdges = max(select(control.sweptEdges, 0u, isFirst), swept);
  }
  storageBarrier();
}

// An edge has changed y of the vertex since listed/open-step.wgsl compared it with x.
fn seeWhetherMoves(v: u32) {
  let isMoving = parameters.movesAll == 1u || any(motions[2u * v].xyz != y[v].xyz);
  let flags = atomicLoad(&vertexStep[v].flags) & ~MOVING;
  atomicStore(&vertexStep[v].flags, flags | select(0u, MOVING, isMoving));
  let sort = abs(motions[2u * v].w);
  motions[2u * v].w = select(-sort, sort, isMoving);
}

@compute @workgroup_size(SERIAL_THREADS)
fn sweepListedEdges(@builtin(local_invocation_index) local: u32) {
  if (local == 0u) {
    atomicStore(&edgeLists[1], atomicLoad(&edgeLists[0]) + 1u);
    atomicStore(&edgeLists[2], 0u);
  }
  sweepEdges(local, true);
  let touched = atomicLoad(&edgeLists[2]);
  for (var n = local; n < touched; n += SERIAL_THREADS) {
    seeWhetherMoves(atomicLoad(&edgeLists[touchedAt(n)]));
  }
}

// The vertices that contacts may move.
fn touchRows(local: u32) {
  let rows = atomicLoad(&control.rowCount);
  for (var n = local; n < rows; n += SERIAL_THREADS) {
    let c = atomicLoad(&contacts[rowAt(n)]);
    let masses = massesOf(c);
    let ids = pairVertex[pairOf(aboutOf(c).x)];
    for (var s = 0u; s < 4u; s++) {
      if (masses[s] > 0.0) {
        touch(u32(ids[s]));
      }
    }
  }
}

@compute @workgroup_size(SERIAL_THREADS)
fn sweepListed(@builtin(local_invocation_index) local: u32) {
  touchRows(local);
  for (var sweep = 0u; sweep < parameters.sweeps; sweep++) {
    storageBarrier();
    if (sweep > 0u) {
      let touched = atomicLoad(&edgeLists[2]);
      for (var n = local; n < touched; n += SERIAL_THREADS) {
        enlistAt(atomicLoad(&edgeLists[touchedAt(n)]), 0u);
      }
      sweepEdges(local, false);
    }
    runTail(0u, local, SERIAL_THREADS);
  }
}
