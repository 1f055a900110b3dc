import type { ParametersInput } from '../../src/contract/parameters.js';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import type { Resolution } from '../../src/solver/engine.js';
import { CoordinateFrame, floorOf } from '../../src/solver/frame.js';
import { resolveParameters } from '../../src/solver/parameters.js';
import type { Convoy } from '../convoy/convoy.js';
import type { KernelSet } from '../device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../device/memory.js';
import type { SceneDevice } from '../device/scene-device.js';
import { GpuScene } from '../scene.js';
import { allDone, type BothKernels, bytesOf, findDifference, PATIENCE_MS, withConvoy } from './places.js';
import { makeProofRandom } from './proof-cases.js';

/**
 * Vertices along a side of the sheets of each scene, and its parameters. The dispatches have different sizes, and none
 * fills its workgroups. PAPER has forms of the contacts, of the bound and of the guard that the others do not have.
 */
const SCENES: readonly { readonly side: number; readonly asked: ParametersInput }[] = [
  { side: 5, asked: { quality: 'BALANCED' } },
  { side: 9, asked: { quality: 'BALANCED' } },
  // Its first step ends at the radius, the next ones between sheets that come near.
  { side: 6, asked: { preset: 'PAPER', activationDistance: 0.1 } },
];
/** Steps of a run: some of Algorithm 1, and some of the pull-back. */
const STEPS = 5;
/**
 * In edges. The sheets begin farther apart than contacts reach, and without contacts the upper one would end below the
 * lower one.
 */
const APART = 0.5;
const SINK = 1.2;
/** In edges: the border of the lower sheet yields this far, and Algorithm 1 takes steps until it has arrived. */
const YIELD = 0.3;

interface Subject {
  readonly asked: ParametersInput;
  readonly mesh: CollisionMesh;
  readonly start: Float64Array;
  readonly target: Float64Array;
}

/**
 * Lets a device prove that whole runs in a convoy give the same bytes as alone: searches, steps of Algorithm 1 and of
 * the pull-back, and all decisions between them. The other proofs judge the most important kernels; this one judges
 * most of those that scenes use. On meshes as small as these some kernels have no work, such as those for the upper
 * levels of a tree, or do not occur, such as those of an arrival.
 *
 * @param budget counts the bytes of the runs together, and of nothing else
 * @returns what is wrong; undefined = nothing
 * @throws Error if a kernel does not run
 */
export async function findSharedRunObjection(
  device: GPUDevice,
  kernels: BothKernels,
  isSoftware: boolean,
  budget = new MemoryBudget(),
): Promise<string | undefined> {
  const subjects = SCENES.map(makeSubject);
  const alone: Uint8Array[] = [];
  for (const subject of subjects) {
    const memory = new DeviceMemory(device, new MemoryBudget());
    alone.push(await run(placeOf(memory, kernels.alone), subject));
  }
  const runTogether = async (convoy: Convoy, accounts: readonly DeviceMemory[]) => {
    const together = await allDone(
      subjects.map((subject, n) => run(placeOf(accounts[n]!, kernels.together, convoy), subject)),
    );
    const { submissions, parts } = convoy.counts;
    if (parts <= submissions) throw new Error('The scenes of a proof have not submitted together.');
    return findDifference('whole runs', alone, together);
  };
  return withConvoy(device, isSoftware, subjects.length, runTogether, budget);
}

/**
 * Returns the place of a scene. The ways to sweep are those of a scene in a convoy, so that both record the same
 * dispatches.
 */
function placeOf(memory: DeviceMemory, kernels: KernelSet, convoy?: Convoy): SceneDevice {
  const ways = { rounds: false, lists: false };
  const assertUsable = () => undefined;
  return { memory, kernels, ways, hasTimings: false, runsAhead: false, convoy, assertUsable, waitFor: (work) => work };
}

/** Returns the answer of a run, without its times. */
async function run(place: SceneDevice, { asked, mesh, start, target }: Subject): Promise<Uint8Array> {
  const measures = measureMesh(mesh, start);
  const { parameters } = resolveParameters({ ...asked, stepLimit: STEPS }, measures);
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  const units = { scale: frame.scale, floor: floorOf(parameters.activationDistance, frame, 'FLOAT64') };
  const create = () => new GpuScene(place, mesh, { parameters, units }, 'DEVICE');
  const scene = await place.memory.checkAllocations('the proof', create);
  try {
    const began = performance.now();
    // A run might never end on a device that reports its progress incorrectly; a run that is stopped has other bytes.
    const shouldStop = () => performance.now() - began > PATIENCE_MS;
    return bytesOfAnswer(await scene.resolve({ x: frame.toEngine(start), y: frame.toEngine(target), shouldStop }));
  } finally {
    scene.close();
  }
}

function bytesOfAnswer({ timings, positions, residuals, pullBack, ...rest }: Resolution): Uint8Array {
  const before = pullBack ? [pullBack.before] : [];
  const told = Buffer.from(JSON.stringify({ ...rest, steps: [rest.steps, pullBack?.steps] }));
  return Buffer.concat([bytesOf(positions, residuals, ...before), told]);
}

/**
 * Makes a sheet whose target lies beyond another one, whose border yields; rods and particles lie on it, for every kind
 * of pair.
 */
function makeSubject({ side, asked }: (typeof SCENES)[number]): Subject {
  const random = makeProofRandom(side);
  const start: number[] = [];
  const target: number[] = [];
  const triangles: number[] = [];
  const segments: number[] = [];
  const kinematic: number[] = [];
  const add = (x: number, y: number, z: number, motion: number, isKinematic = false): number => {
    const near = (value: number) => value + 0.05 * (random() - 0.5);
    start.push(x, y, z);
    // The targets of kinematic vertices are reached, so they keep the shape of the border.
    target.push(...(isKinematic ? [x, y, z + motion] : [near(x), near(y), near(z + motion)]));
    return kinematic.push(isKinematic ? 1 : 0) - 1;
  };
  for (const sheet of [0, 1]) {
    for (let i = 0; i < side; i++) {
      for (let j = 0; j < side; j++) {
        const isBorder = sheet === 0 && i === 0;
        const motion = sheet === 1 ? -SINK : isBorder ? -YIELD : 0;
        const v = add(i + 0.3 * sheet, j + 0.2 * sheet, APART * sheet, motion, isBorder);
        if (i + 1 < side && j + 1 < side) triangles.push(v, v + side, v + side + 1, v, v + side + 1, v + 1);
      }
    }
  }
  const particles: number[] = [];
  for (let k = 0; k + 1 < side; k++) {
    const rod = add(0.7 * k, 0.8 * k, 2 * APART, -SINK);
    if (k > 0) segments.push(rod - 2, rod);
    particles.push(add(0.7 * k + 0.4, 0.8 * k + 0.1, 2 * APART, -SINK));
  }
  const mesh = buildMesh({
    vertexCount: kinematic.length,
    triangles: Uint32Array.from(triangles),
    segments: Uint32Array.from(segments),
    particles: Uint32Array.from(particles),
    kinematic: Uint8Array.from(kinematic),
  });
  return { asked, mesh, start: Float64Array.from(start), target: Float64Array.from(target) };
}
