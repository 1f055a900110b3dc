// Projections of edge limits (pull-back/edge-limits.wgsl), for kernels that bind what it does. This is the version for graphics cards;
// pull-back/limit-edge.wgsl, with the same declarations and the same arithmetic, is that for processors.
//
// A colour has few edges that act and waits for the colour before, so that its time is that of its longest chain of reads. As in
// backward/run-queue-ahead.wgsl the sweep of one workgroup is pipelined over *turns*, in each of which a thread projects at most one edge:
// while a turn runs, the threads read the constraints of the next one, and which edges the one after it has.
// #include "common/lengths.wgsl"
// #include "pull-back/passes.wgsl"

// An edge of a colour.
struct ColouredEdge {
  isThere: bool,
  edge: u32,
  colour: u32,
}

// What an edge reads beside its ends: its multipliers, and the longest that it may be, negative = any length.
struct EdgeLimit {
  member: ColouredEdge,
  ends: vec2u,
  limit: f32,
  push: vec4f,
  before: vec3f,
}

fn limitOf(edge: ColouredEdge) -> EdgeLimit {
  let e = edge.edge;
  return EdgeLimit(edge, edgeEnds[e], edgeRow[e].w, edgePush[2u * e], edgePush[2u * e + 1u].xyz);
}

fn placeOfEnd(v: u32) -> vec3f {
  return vec3f(y[3u * v], y[3u * v + 1u], y[3u * v + 2u]);
}

fn moveEnd(v: u32, at: vec3f, share: f32, change: vec3f) {
  y[3u * v] = at.x + share * change.x;
  y[3u * v + 1u] = at.y + share * change.y;
  y[3u * v + 2u] = at.z + share * change.z;
}

// Whether the edge acts. Its ends are here, and have these inverse masses.
fn projectEnds(constraint: EdgeLimit, here: vec3f, there: vec3f, w: vec2f) -> bool {
  if (constraint.limit < 0.0) {
    return false;
  }
  let e = constraint.member.edge;
  let isFirst = control.sweepsDone == 0u;
  let push = constraint.push;
  let begun = select(push.xyz + control.momentum * (push.xyz - constraint.before), vec3f(0.0), isFirst);
  let shortened = max(0.0, constraint.limit - pullBack.slack);
  let both = w.x + w.y;
  let d = here - there + both * begun;
  let length = lengthOf(d);
  var f = 0.0;
  if (length > shortened) {
    f = (1.0 - shortened / length) / both;
  }
  let next = select(f * d, pullBack.warmEdges * push.xyz, isFirst);
  let change = next - begun;
  edgePush[2u * e] = vec4f(next, push.w);
  edgePush[2u * e + 1u] = vec4f(select(push.xyz, next, isFirst), 0.0);
  if (any(change != vec3f(0.0))) {
    if (w.x > 0.0) {
      moveEnd(constraint.ends.x, here, -w.x, change);
    }
    if (w.y > 0.0) {
      moveEnd(constraint.ends.y, there, w.y, change);
    }
  }
  return any(begun != vec3f(0.0)) || any(next != vec3f(0.0)) || length > NEAR_LIMIT * shortened;
}

// An edge that a complete pass finds to act is swept by the passes after it.
fn listActive(edge: ColouredEdge) {
  let listed = pullBack.colours + edgeColours[edge.colour];
  atomicStore(&edgeActive[listed + atomicAdd(&edgeActive[edge.colour], 1u)], edge.edge);
}

// The edges of a colour from the n-th on, every so-many-th.
fn sweepColour(colour: u32, begin: u32, stride: u32) {
  let isComplete = isCompletePass(control.sweepsDone);
  let first = edgeColours[colour];
  let all = edgeColours[colour + 1u] - first;
  let listed = pullBack.colours + first;
  let count = select(atomicLoad(&edgeActive[colour]), all, isComplete);
  for (var n = begin; n < count; n += stride) {
    var e = first + n;
    if (!isComplete) {
      e = atomicLoad(&edgeActive[listed + n]);
    }
    let edge = ColouredEdge(true, e, colour);
    let constraint = limitOf(edge);
    let w = vec2f(inverseMass[constraint.ends.x], inverseMass[constraint.ends.y]);
    if (projectEnds(constraint, placeOfEnd(constraint.ends.x), placeOfEnd(constraint.ends.y), w) && isComplete) {
      listActive(edge);
    }
  }
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
    for (var turn = 0u; turn < select(turns + 2u, 0u, turns == 0u); turn++) {
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
          listActive(running.member);
        }
      }
      // The next turn sees what this one wrote.
      storageBarrier();
    }
  }
}
