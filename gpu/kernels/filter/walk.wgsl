// State filter, one thread an edge: walks the tree of triangles without a stack and lists every triangle that the edge is
// not certain to miss. After a hit the walk goes to node 2k, after a miss or a leaf to (k + 1) >> ctz(k + 1), and it ends
// back at 1. What is listed is decided exactly on the host (src/verify/state.ts); what is not has no common point.
//
// In: walk, x, edges and triangles in slot order, parts, tree. Out: counts, doubtful (edge slot, triangle slot), in no
// particular order. The bounds are in filter/signs.wgsl.
// #include "common/dispatch.wgsl"
// #include "filter/signs.wgsl"

@group(0) @binding(0) var<uniform> walk: FilterWalk;
// f32[3V]
@group(0) @binding(1) var<storage, read> x: array<f32>;
// u32[2E], u32[3T]
@group(0) @binding(2) var<storage, read> edges: array<u32>;
@group(0) @binding(3) var<storage, read> triangles: array<u32>;
// part of each edge, of each triangle (by slot), first of each part's ignored parts and an end, the lists, ascending
@group(0) @binding(4) var<storage, read> parts: array<u32>;
@group(0) @binding(5) var<storage, read> tree: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> counts: FilterCounts;
@group(0) @binding(7) var<storage, read_write> doubtful: array<vec2u>;

// Candidates that a thread collects before it examines them.
const PENDING: u32 = 8u;
// An edge whose box overlaps more boxes than this belongs to a state that is too large for one dispatch: drivers reset a device
// that does not answer for some seconds. The host, which can be interrupted, tests such a state instead.
const MAX_NEIGHBOURS: u32 = 65536u;

fn positionOf(v: u32) -> vec3f {
  return vec3f(x[3u * v], x[3u * v + 1u], x[3u * v + 2u]);
}

fn areIgnored(edge: u32, triangle: u32) -> bool {
  if (walk.hasIgnored == 0u) {
    return false;
  }
  let p = parts[edge];
  let q = parts[walk.edges + triangle];
  if (p == NO_PART || q == NO_PART) {
    return false;
  }
  let firsts = walk.edges + walk.triangles;
  let lists = firsts + walk.parts + 1u;
  var low = parts[firsts + p];
  var high = parts[firsts + p + 1u];
  while (low < high) {
    let middle = (low + high) / 2u;
    let other = parts[lists + middle];
    if (other == q) {
      return true;
    }
    if (other < q) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  return false;
}

// In one coordinate plane: is the edge on the outer side of a side of the triangle, or the triangle on one side of the
// edge's line? Sets that are apart in a projection are apart.
fn isApartInPlane(d: vec2f, a: vec2f, b: vec2f, c: vec2f, slack: f32) -> bool {
  // The edge runs from 0 to d; a, b, c are the corners from there.
  let pa = signOfArea(d, a, slack);
  let pb = signOfArea(d, b, slack);
  let pc = signOfArea(d, c, slack);
  return pa != 0 && pa == pb && pb == pc;
}

// The side from m to n as seen from the edge's ends, o the third corner; all are differences to m: the edge's ends, n, o.
fn isBeyondSide(p: vec2f, q: vec2f, n: vec2f, o: vec2f, slack: f32) -> bool {
  let inner = signOfArea(n, o, slack);
  return inner != 0 && signOfArea(n, p, slack) == -inner && signOfArea(n, q, slack) == -inner;
}

fn isBeyondSideInAnyPlane(p: vec3f, q: vec3f, n: vec3f, o: vec3f, slack: f32) -> bool {
  return isBeyondSide(p.xy, q.xy, n.xy, o.xy, slack) || isBeyondSide(p.yz, q.yz, n.yz, o.yz, slack)
    || isBeyondSide(p.zx, q.zx, n.zx, o.zx, slack);
}

// Certain that the closed edge p q and the closed triangle a b c have no common point.
fn areApart(p: vec3f, q: vec3f, triangle: u32) -> bool {
  let zero = walk.zero;
  let slack = SLACK_SHARE * walk.slack;
  let a = positionOf(triangles[3u * triangle]);
  let b = positionOf(triangles[3u * triangle + 1u]);
  let c = positionOf(triangles[3u * triangle + 2u]);
  let ab = held(b - a, zero);
  let ac = held(c - a, zero);
  let ap = held(p - a, zero);
  let aq = held(q - a, zero);
  // Both ends on one side of the plane.
  let sideP = signOfVolume(ap, ab, ac, slack);
  if (sideP != 0 && sideP == signOfVolume(aq, ab, ac, slack)) {
    return true;
  }
  // A common point αa + βb + γc on the line through p and q makes α [ab] = γ [bc], β [bc] = α [ca] and γ [ca] = β [ab], where
  // [ab] is the volume of (q - p, a - p, b - p) and so on: signs of which two differ for certain leave no such weights.
  let d = held(q - p, zero);
  let pa = held(a - p, zero);
  let pb = held(b - p, zero);
  let pc = held(c - p, zero);
  let sideAB = signOfVolume(d, pa, pb, slack);
  let sideBC = signOfVolume(d, pb, pc, slack);
  let sideCA = signOfVolume(d, pc, pa, slack);
  if (sideAB * sideBC == -1 || sideBC * sideCA == -1 || sideCA * sideAB == -1) {
    return true;
  }
  // In one plane, or nearly: flat cloth, where the volumes are all 0.
  if (isApartInPlane(d.xy, pa.xy, pb.xy, pc.xy, slack) || isApartInPlane(d.yz, pa.yz, pb.yz, pc.yz, slack)
    || isApartInPlane(d.zx, pa.zx, pb.zx, pc.zx, slack)) {
    return true;
  }
  let bc = held(c - b, zero);
  return isBeyondSideInAnyPlane(ap, aq, ab, ac, slack) || isBeyondSideInAnyPlane(ap, aq, ac, ab, slack)
    || isBeyondSideInAnyPlane(held(p - b, zero), held(q - b, zero), bc, held(a - b, zero), slack);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn walkEdges(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) dispatched: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let edge = WORKGROUP_SIZE * foldedGroup(workgroup, dispatched) + thread;
  if (edge >= walk.edges) {
    return;
  }
  let one = edges[2u * edge];
  let two = edges[2u * edge + 1u];
  let p = positionOf(one);
  let q = positionOf(two);
  let lo = min(p, q);
  let hi = max(p, q);
  var tested = 0u;
  // The walk: the node to look at, 0 at its end; the next triangle of a leaf, and how many of that leaf are left.
  var k = 1u;
  var next = 0u;
  var left = 0u;
  var pending: array<u32, PENDING>;
  loop {
    // First every thread collects its next candidates, then all examine them together: threads that run in step would
    // otherwise wait for each other's examinations.
    var found = 0u;
    while (found < PENDING && (k != 0u || left != 0u)) {
      let isTriangle = left != 0u;
      let box = 2u * select(k, 2u * walk.leaves + next, isTriangle);
      let overlaps = all(tree[box].xyz <= hi) && all(tree[box + 1u].xyz >= lo);
      if (isTriangle) {
        if (overlaps) {
          let a = triangles[3u * next];
          let b = triangles[3u * next + 1u];
          let c = triangles[3u * next + 2u];
          let isNeighbour = a == one || b == one || c == one || a == two || b == two || c == two;
          if (!isNeighbour && !areIgnored(edge, next)) {
            pending[found] = next;
            found++;
          }
        }
        next++;
        left--;
      } else {
        let isLeaf = k >= walk.leaves;
        if (overlaps && isLeaf) {
          next = LEAF_SIZE * (k - walk.leaves);
          left = min(next + LEAF_SIZE, max(walk.triangles, next)) - next;
        }
        let onward = (k + 1u) >> countTrailingZeros(k + 1u);
        k = select(select(onward, 0u, onward == 1u), 2u * k, overlaps && !isLeaf);
      }
    }
    for (var n = 0u; n < found; n++) {
      if (!areApart(p, q, pending[n])) {
        let place = atomicAdd(&counts.doubtful, 1u);
        if (place < walk.capacity) {
          doubtful[place] = vec2u(edge, pending[n]);
        } else {
          atomicStore(&counts.isFull, 1u);
        }
      }
    }
    tested += found;
    if (found < PENDING) {
      break;
    }
    if (tested > MAX_NEIGHBOURS) {
      atomicStore(&counts.isCrowded, 1u);
      break;
    }
  }
  atomicAdd(&counts.walked, 1u);
  if (edge == 0u) {
    atomicStore(&counts.stamp, walk.stamp);
  }
  let before = atomicAdd(&counts.testedLow, tested);
  if (before + tested < before) {
    atomicAdd(&counts.testedHigh, 1u);
  }
}
