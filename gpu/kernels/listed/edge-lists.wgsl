// The edges that may act in the next sweep, colour by colour, and the vertices that have moved in this step. Words of
// edgeLists, with C colours, E edges and V vertices:
//
//   0      sweeps that were listed so far; the number of the one under way is one more
//   1      the number of the first sweep of this step
//   2      vertices that are touched: those whose y an edge has moved in this step, or a contact may move
//   3      C  edges of each colour that are listed
//   3+C    E  those edges, each colour's from the place of its first edge on
//   3+C+E  E  the last sweep for which an edge was listed
//   3+C+2E V  the vertices that are touched
//   …+V    V  the first sweep of the step in which a vertex was touched last

fn edgeCountAt(colour: u32) -> u32 {
  return 3u + colour;
}

fn edgeListAt(colour: u32) -> u32 {
  return 3u + parameters.colours + edgeColours[colour];
}

fn listedFor(e: u32) -> u32 {
  return 3u + parameters.colours + parameters.edgeCount + e;
}

fn touchedAt(n: u32) -> u32 {
  return 3u + parameters.colours + 2u * parameters.edgeCount + n;
}

fn touchedIn(v: u32) -> u32 {
  return touchedAt(parameters.vertexCount + v);
}

fn colourOf(e: u32) -> u32 {
  var colour = 0u;
  while (edgeColours[colour + 1u] <= e) {
    colour++;
  }
  return colour;
}

// Lists an edge for the sweep under way, once.
fn enlist(e: u32) {
  let sweep = atomicLoad(&edgeLists[0]) + 1u;
  if (atomicExchange(&edgeLists[listedFor(e)], sweep) != sweep) {
    let colour = colourOf(e);
    atomicStore(&edgeLists[edgeListAt(colour) + atomicAdd(&edgeLists[edgeCountAt(colour)], 1u)], e);
  }
}

// Whether the vertex was not touched before in this step.
fn touch(v: u32) -> bool {
  let step = atomicLoad(&edgeLists[1]);
  if (atomicExchange(&edgeLists[touchedIn(v)], step) == step) {
    return false;
  }
  atomicStore(&edgeLists[touchedAt(atomicAdd(&edgeLists[2], 1u))], v);
  return true;
}
