// Projections of edge limits (pull-back/edge-limits.wgsl), for kernels with the same bindings. This is the version for
// graphics cards; pull-back/limit-edge.wgsl, with the same declarations and the same arithmetic, is that for
// processors.
//
// A colour has few edges that act and waits for the colour before, so that its time is that of its longest chain of reads. As
// in backward/run-queue-ahead.wgsl the sweep of one workgroup is pipelined over *turns*, in each of which a thread projects at
// most one edge: while a turn runs, the threads read the constraints of the next one, and which edges the one after it has.
// #include "pull-back/limit-colour.wgsl"

// An edge of a colour.
struct ColouredEdge {
  isThere: bool,
  edge: u32,
  colour: u32,
}

// What an edge reads beside its ends: what edgeRow and edgePush have of it.
struct EdgeLimit {
  member: ColouredEdge,
  ends: vec2u,
  row: vec4f,
  before: vec4f,
}

fn limitOf(edge: ColouredEdge) -> EdgeLimit {
  let e = edge.edge;
  return EdgeLimit(edge, edgeEnds[e], edgeRow[e], edgePush[e]);
}

fn placeOfEnd(v: u32) -> vec3f {
  return y[v].xyz;
}

fn moveEnd(v: u32, at: vec3f, share: f32, change: vec3f) {
  y[v] = vec4f(at + share * change, 0.0);
}

// Whether the edge acts. Its ends are here and there, and have these inverse masses.
fn projectEnds(constraint: EdgeLimit, here: vec3f, there: vec3f, w: vec2f) -> bool {
  if (constraint.row.w < 0.0) {
    return false;
  }
  let push = pushLimit(constraint.member.edge, constraint.row, constraint.before, here - there, w);
  if (any(push.change != vec3f(0.0))) {
    if (w.x > 0.0) {
      moveEnd(constraint.ends.x, here, -w.x, push.change);
    }
    if (w.y > 0.0) {
      moveEnd(constraint.ends.y, there, w.y, push.change);
    }
  }
  return push.acts;
}

fn projectLimit(e: u32) -> bool {
  let constraint = limitOf(ColouredEdge(true, e, 0u));
  let ends = constraint.ends;
  return projectEnds(constraint, placeOfEnd(ends.x), placeOfEnd(ends.y), vec2f(inverseMass[ends.x], inverseMass[ends.y]));
}

// Colours of which a workgroup knows the sizes at a time.
const KNOWN_COLOURS: u32 = 256u;
// first edge, or first entry of the list, and how many
var<workgroup> colourFirst: array<u32, KNOWN_COLOURS>;
var<workgroup> colourSizes: array<u32, KNOWN_COLOURS>;
// the turns that these colours take, counted and for all threads alike
var<workgroup> colourTurnsCounted: atomic<u32>;
var<workgroup> colourTurnsKnown: u32;

// These colours one after the other, in one workgroup of so many threads.
fn sweepColours(firstColour: u32, endColour: u32, local: u32, threads: u32) {
  openPass();
  let isComplete = isCompletePass(control.sweepsDone);
  for (var colours = firstColour; colours < endColour; colours += KNOWN_COLOURS) {
    if (local == 0u) {
      atomicStore(&colourTurnsCounted, 0u);
    }
    // Kernels before this one, and other parts of it, have written y.
    storageBarrier();
    workgroupBarrier();
    for (var n = local; n < min(KNOWN_COLOURS, endColour - colours); n += threads) {
      let first = edgeColours[colours + n];
      var size = edgeColours[colours + n + 1u] - first;
      if (!isComplete) {
        size = atomicLoad(&edgeActive[colours + n]);
      }
      colourFirst[n] = select(pullBack.colours + first, first, isComplete);
      colourSizes[n] = size;
      if (size > 0u) {
        atomicAdd(&colourTurnsCounted, (size + threads - 1u) / threads);
      }
    }
    workgroupBarrier();
    if (local == 0u) {
      colourTurnsKnown = atomicLoad(&colourTurnsCounted);
    }
    let turns = workgroupUniformLoad(&colourTurnsKnown);
    // Of the turn that is read ahead: its colour, and edges of the colour that earlier turns have.
    var colour = 0u;
    var offset = 0u;
    var coming: ColouredEdge;
    var next: EdgeLimit;
    for (var turn = 0u; turn < turns + 2u; turn++) {
      let running = next;
      var here: vec3f;
      var there: vec3f;
      var w: vec2f;
      // All reads of this turn, and those for later ones, before anything waits for one of them.
      if (running.member.isThere) {
        here = placeOfEnd(running.ends.x);
        there = placeOfEnd(running.ends.y);
        w = vec2f(inverseMass[running.ends.x], inverseMass[running.ends.y]);
      }
      next = EdgeLimit();
      if (coming.isThere) {
        next = limitOf(coming);
      }
      coming = ColouredEdge();
      if (turn < turns) {
        while (colour + 1u < KNOWN_COLOURS && colourSizes[colour] == 0u) {
          colour++;
        }
        let size = colourSizes[colour];
        let n = offset + local;
        if (n < size) {
          let place = colourFirst[colour] + n;
          var e = place;
          if (!isComplete) {
            e = atomicLoad(&edgeActive[place]);
          }
          coming = ColouredEdge(true, e, colours + colour);
        }
        offset += threads;
        if (offset >= size) {
          colour++;
          offset = 0u;
        }
      }
      if (running.member.isThere) {
        if (projectEnds(running, here, there, w) && isComplete) {
          listActive(running.member.edge, running.member.colour);
        }
      }
      // The next turn sees what this one wrote.
      storageBarrier();
    }
  }
}
