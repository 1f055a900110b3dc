// The sweeps of a step of the pull-back between two that look at all edges, in one workgroup, where few edges act and
// there are few contacts (pull-back/sweeps-alone.wgsl). The last of these sweeps is closed by the kernels that precede
// a sweep over all edges.
//
// Only *active* vertices matter: those of the edges that act, and those that a contact row moves. Every other movable vertex
// has had y = yFrom = yLast since pass 0: an edge that moves a vertex is listed by the sweep that looks at it (projectLimit).
// So its term of the sum that tells whether the momentum turns is 0, and its extrapolation changes nothing. A vertex stays
// active to the end of the step, since its momentum goes on.
//
// The sum is that of pull-back/momentum.wgsl and sum-parts.wgsl to the bit: the same terms in the same order, without
// those that are 0, on which a sum that begins with 0 does not depend.
//
// In and out besides: activeVertices. Mirrors AcceleratedSweeps.run (src/solver/cpu/accelerated-sweeps.ts).
// #include "pull-back/sweeps-alone.wgsl"
@group(0) @binding(16) var<storage, read_write> activeVertices: array<atomic<u32>>;
// #include "pull-back/active-words.wgsl"
// #include "pull-back/sum-groups.wgsl"

// The number of the sweep that is next, for all threads alike.
var<workgroup> firstSweep: u32;
var<workgroup> groupSums: array<f32, SUM_GROUPS>;
var<workgroup> threadSums: array<f32, WORKGROUP_SIZE>;

// A divisor of MARKS_PER_WORD.
const TERMS_AT_ONCE: u32 = 8u;

fn activate(v: u32) {
  if (inverseMass[v] > 0.0) {
    let bit = 1u << (v % MARKS_PER_WORD);
    if ((atomicOr(&activeVertices[markOf(v)], bit) & bit) == 0u) {
      atomicStore(&activeVertices[memberAt(atomicAdd(&activeVertices[0], 1u))], v);
    }
  }
}

// The vertices of the edges that act and of the rows.
fn activateAll(local: u32) {
  for (var colour = 0u; colour < pullBack.colours; colour++) {
    let listed = pullBack.colours + edgeColours[colour];
    let count = atomicLoad(&edgeActive[colour]);
    for (var n = local; n < count; n += SMALL_THREADS) {
      let ends = edgeEnds[atomicLoad(&edgeActive[listed + n])];
      activate(ends.x);
      activate(ends.y);
    }
  }
  let rows = atomicLoad(&control.rowCount);
  for (var n = local; n < rows; n += SMALL_THREADS) {
    let entry = aboutOf(atomicLoad(&contacts[rowAt(n)])).x;
    let ids = pairVertex[pairOf(entry)];
    for (var s = 0u; s < cornersOf(kindOf(entry)); s++) {
      activate(u32(ids[s]));
    }
  }
}

// The sum of the n-th workgroup of pull-back/momentum.wgsl: each of its threads adds its terms, then the first thread
// adds the sums of all threads. Terms are read TERMS_AT_ONCE at a time, so that a device need not wait for each of
// them; they are added in order.
fn groupSum(n: u32, groups: u32) -> f32 {
  var sum = 0.0;
  let stride = WORKGROUP_SIZE * groups;
  // Its threads, by words of marks.
  for (var first = WORKGROUP_SIZE * n; first < WORKGROUP_SIZE * (n + 1u); first += MARKS_PER_WORD) {
    var marks = 0u;
    for (var i = first; i < parameters.vertexCount; i += stride) {
      marks |= atomicLoad(&activeVertices[markOf(i)]);
    }
    for (var bit = 0u; bit < MARKS_PER_WORD; bit += TERMS_AT_ONCE) {
      if (extractBits(marks, bit, TERMS_AT_ONCE) == 0u) {
        continue;
      }
      var own = array<f32, TERMS_AT_ONCE>();
      for (var i = first + bit; i < parameters.vertexCount; i += stride) {
        let acting = atomicLoad(&activeVertices[markOf(i)]) >> bit;
        for (var k = 0u; k < TERMS_AT_ONCE; k++) {
          let term = bitcast<f32>(atomicLoad(&activeVertices[termAt(min(i + k, parameters.vertexCount - 1u))]));
          own[k] += select(0.0, term, ((acting >> k) & 1u) == 1u);
        }
      }
      for (var k = 0u; k < TERMS_AT_ONCE; k++) {
        sum += own[k];
      }
    }
  }
  return sum;
}

// Whether the momentum points away from where the sweep went; for the first thread only.
fn turns(local: u32, members: u32) -> bool {
  for (var n = local; n < members; n += SMALL_THREADS) {
    let i = atomicLoad(&activeVertices[memberAt(n)]);
    atomicStore(&activeVertices[termAt(i)], bitcast<u32>(turnOf(i)));
  }
  storageBarrier();
  let groups = sumGroups();
  for (var n = local; n < groups; n += SMALL_THREADS) {
    groupSums[n] = groupSum(n, groups);
  }
  workgroupBarrier();
  if (local < WORKGROUP_SIZE) {
    var own = 0.0;
    for (var n = local; n < groups; n += WORKGROUP_SIZE) {
      own += groupSums[n];
    }
    threadSums[local] = own;
  }
  workgroupBarrier();
  var sum = 0.0;
  let count = select(0u, WORKGROUP_SIZE, local == 0u);
  for (var n = 0u; n < count; n++) {
    sum += threadSums[n];
  }
  return sum > 0.0;
}

@compute @workgroup_size(SMALL_THREADS)
fn sweepFew(@builtin(local_invocation_index) local: u32) {
  activateAll(local);
  if (local == 0u) {
    firstSweep = control.sweepsDone;
  }
  storageBarrier();
  let members = atomicLoad(&activeVertices[0]);
  let first = workgroupUniformLoad(&firstSweep);
  // of its round
  let last = ((first - 1u) / pullBack.sweeps + 1u) * pullBack.sweeps;
  for (var turn = first; turn <= last && !isCompletePass(turn); turn++) {
    sweepOnce(local);
    if (turn < last && !isCompletePass(turn + 1u)) {
      let turned = turns(local, members);
      if (local == 0u) {
        turnMomentum(turned);
      }
      storageBarrier();
      for (var n = local; n < members; n += SMALL_THREADS) {
        extrapolateVertex(atomicLoad(&activeVertices[memberAt(n)]));
      }
    }
  }
}
