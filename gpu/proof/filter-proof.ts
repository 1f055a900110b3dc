import type { Positions } from '../../src/contract/mesh.js';
import { buildMesh } from '../../src/mesh/build.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { type DoubtfulPairs, decideDoubtful, findIntersections } from '../../src/verify/state.js';
import type { PairRules } from '../../src/verify/types.js';
import { Convoy } from '../convoy/convoy.js';
import { KernelSet } from '../device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../device/memory.js';
import { DeviceStateFilter } from '../filter/state-filter.js';
import { makeProofRandom } from './proof-cases.js';

/** Pairs of an edge and a triangle that touch or nearly do; without the bound, a tenth of them would be misjudged. */
const PROOF_PAIRS = 1000;
/** At most this share of the pairs that are far from touching may be in doubt; otherwise the filter is useless. */
const MAX_DOUBTFUL_SHARE = 0.9;
const RULES: PairRules = { kinematicPairs: 'PROTECT', maxPairs: 0 };

/**
 * Lets an adapter prove that it rounds as the filter's bound requires: the verifier does not examine pairs that the
 * filter clears, so a driver that rounds differently could clear pairs that meet.
 *
 * @param kernels for one mesh alone, or for a convoy, in which both states of the proof are filtered together
 * @returns what is wrong; undefined = it may be used
 * @throws Error if a kernel does not run
 */
export async function findFilterObjection(device: GPUDevice, kernels: KernelSet): Promise<string | undefined> {
  const { mesh, single, double } = makeProof();
  const memory = new DeviceMemory(device, new MemoryBudget());
  const convoy = kernels.isShared ? new Convoy(memory.fork(), false, { scenes: 2, delay: 0 }) : undefined;
  try {
    const objections = [single, double].map((x) => findObjection(memory.fork(convoy?.arena), convoy, kernels, mesh, x));
    const [first, second] = await Promise.all(objections);
    return first ?? second;
  } finally {
    convoy?.close();
  }
}

async function findObjection(
  memory: DeviceMemory,
  convoy: Convoy | undefined,
  kernels: KernelSet,
  mesh: CollisionMesh,
  x: Positions,
): Promise<string | undefined> {
  const place = { memory, convoy, assertUsable: () => {}, waitFor: <T>(work: Promise<T>) => work };
  const filter = await DeviceStateFilter.open(place, mesh, { kernels });
  try {
    const doubtful = await filter.findDoubtful(x);
    return doubtful ? judgeDoubtful(mesh, x, doubtful) : 'the state filter gave up on a small mesh';
  } finally {
    filter.close();
  }
}

/** @returns what is wrong with the pairs that a filter has not cleared; undefined = nothing */
export function judgeDoubtful(mesh: CollisionMesh, x: Positions, doubtful: DoubtfulPairs): string | undefined {
  const { pairs, pairsTested } = doubtful;
  const listed = new Set<number>();
  for (let k = 0; k < pairs.length; k += 2) listed.add(pairs[k]! * (mesh.triangles.length / 3) + pairs[k + 1]!);
  const count = pairs.length / 2;
  // Otherwise one that is listed twice could stand for one that is lost.
  if (listed.size < count) return `the state filter lists ${count - listed.size} of ${count} pairs twice`;
  const exact = findIntersections(mesh, x, RULES);
  const found = decideDoubtful(mesh, x, RULES, doubtful).intersectionCount;
  if (found !== exact.intersectionCount) {
    return `the state filter lost ${exact.intersectionCount - found} of ${exact.intersectionCount} intersections`;
  }
  const share = count / pairsTested;
  return share > MAX_DOUBTFUL_SHARE ? `the state filter doubts ${share} of all pairs` : undefined;
}

const proven = {
  alone: new WeakMap<GPUDevice, Promise<KernelSet>>(),
  together: new WeakMap<GPUDevice, Promise<KernelSet>>(),
};

/**
 * Returns the filter's kernels, compiled and proven once per device.
 *
 * @param way for one mesh alone, or for a convoy
 * @throws Error with the objection, on every request
 */
export function loadProvenKernels(device: GPUDevice, way: keyof typeof proven = 'alone'): Promise<KernelSet> {
  let kernels = proven[way].get(device);
  if (!kernels) {
    const loading = way === 'alone' ? KernelSet.load(device, 'filter') : KernelSet.loadShared(device, 'filter');
    kernels = loading.then(async (loaded) => {
      const objection = await findFilterObjection(device, loaded);
      if (objection !== undefined) throw new Error(objection);
      return loaded;
    });
    proven[way].set(device, kernels);
  }
  return kernels;
}

/** Rods that end within an ulp of a triangle's plane, inside it or on its rim, half of them beyond. */
function makeProof(): { mesh: CollisionMesh; single: Float32Array; double: Float64Array } {
  const random = makeProofRandom(20_231_104);
  const between = (low: number, high: number) => low + (high - low) * random();
  const single = new Float32Array(15 * PROOF_PAIRS);
  const triangles: number[] = [];
  const segments: number[] = [];
  for (let n = 0; n < PROOF_PAIRS; n++) {
    const first = 5 * n;
    triangles.push(first, first + 1, first + 2);
    segments.push(first + 3, first + 4);
    const [s, t] = n % 3 === 0 ? [random(), 0] : [between(0.1, 0.4), between(0.1, 0.4)];
    // Rounded coordinates misjudge small ones, rounded products large ones.
    const size = n % 2 === 0 ? 0.1 : 0.001;
    for (let c = 0; c < 3; c++) {
      const centre = between(-1, 1);
      const [p, q, r] = [0, 1, 2].map(() => Math.fround(centre + between(-size, size)));
      const end = Math.fround(p + s * (q - p) + t * (r - p));
      [p, q, r, end + between(-size, size), end].forEach((value, corner) => {
        single[3 * (first + corner) + c] = value;
      });
    }
  }
  const mesh = buildMesh({
    vertexCount: 5 * PROOF_PAIRS,
    triangles: Uint32Array.from(triangles),
    segments: Uint32Array.from(segments),
  });
  return { mesh, single, double: Float64Array.from(single, (value) => 1000 + 1.1 * value) };
}
