import { buildMesh } from '../../src/mesh/build.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { EE, VT } from '../../src/solver/pair-kinds.js';
import type { KernelSet } from '../device/kernel.js';
import type { DeviceMemory } from '../device/memory.js';
import { sliceOf, write } from '../device/place.js';
import { toFours, VECTOR_BYTES } from '../device/vectors.js';
import { PHASE } from '../kernels/constants.js';
import { CONTROL, PARAMETERS } from '../kernels/structs.js';
import { type AloneStage, type EntryPoint, kernelFilesOf } from '../kernels/table.js';
import { Dispatcher } from '../step/dispatcher.js';
import { planEdges } from '../step/edge-plan.js';
import { PULL_BACK_PAIR_BYTES } from '../step/pull-back-buffers.js';
import { PullBackRecorder, type SweepsShape } from '../step/pull-back-recorder.js';
import { StepRecorder, type StepShape } from '../step/recorder.js';
import { packPullBack } from '../step/request.js';
import { SceneBuffers } from '../step/scene-buffers.js';
import { type BothKernels, findDifference, type ProofPlace, runAlone, runBothWays, runTogether } from './places.js';
import { makeProofRandom } from './proof-cases.js';

/** Vertices along a side of each of the two sheets, and of those of the scenes of a convoy. */
const SIDE = 20;
const SHARED_SIDES = [7, 12] as const;
/** Sweeps of a step: two that visit all edges, with others between and after them. */
const SWEEPS = 10;
/** Engine units: an edge is one. */
const DELTA = 0.2;
/** So tight that the motions caused by contacts stretch edges that were within their limits. */
const SIGMA = 1.035;
const CLOCK = 7;
/** Share of the vertices that nothing moves. */
const INFINITE_SHARE = 0.1;
const PULL_BACK_PLAN = {
  tau: 0.5,
  longest: 2,
  minGain: 0.007,
  cheapPairs: 1e6,
  far: Number.POSITIVE_INFINITY,
  progress: 0,
  offset: 0.025,
  sweeps: SWEEPS,
  reservedSteps: 0,
  shorteningSteps: 0,
  finer: undefined,
};

/**
 * A way to sweep: rounds of contacts as whole dispatches (`rounds`), one workgroup for the edges that act, of every
 * colour (`lists`), or kernels that make whole sweeps ('small', 'few', 'listed'); or other kernels that select the
 * contacts, many or few ('chosen').
 */
export type SweepWay = 'rounds' | 'lists' | Exclude<AloneStage, 'joined'>;

/** Which ways give the same bytes as one workgroup that visits every edge colour by colour; the others are not used. */
export type SweepWays<W extends SweepWay = 'rounds' | 'lists'> = Readonly<Record<W, boolean>>;

interface Swept {
  readonly shape: SweepsShape & Pick<StepShape, 'listsEdges' | 'selectsAlone'>;
  /** whether whole dispatches sweep every colour of edges that is not left to one workgroup */
  readonly hasWideEdges?: boolean;
  /** whether the lists of candidates are reserved as for a mesh with very many vertices */
  readonly isLarge?: boolean;
}

interface Manner extends Swept {
  /** a device without this kernel does not have this way */
  readonly kernel?: EntryPoint;
  /** phases whose sweeps it makes */
  readonly phases: readonly SweptPhase[];
  /** those of them in which it has kernels of its own that form the rows of contacts: they run in the volume form, too */
  readonly rowPhases?: readonly SweptPhase[];
}

/** What the sweeps of a step are made for. */
interface Task {
  readonly phase: SweptPhase;
  /** whether the rows of contacts have the volume form, otherwise the gap form */
  readonly isVolume: boolean;
}

const keyOf = ({ phase, isVolume }: Task): string => `${phase} ${isVolume}`;

const DENSE = { sweeps: SWEEPS, wide: { rounds: 0, ordering: 0, threads: 0 }, hasDenseEdges: true, isSmall: false };

// Algorithm 1 has kernels of its own for contacts and edges.
const WAYS: Readonly<Record<SweepWay, Manner>> = {
  rounds: {
    shape: { ...DENSE, wide: { rounds: 12, ordering: 12, threads: 64 } },
    phases: [PHASE.ADVANCE, PHASE.PULL],
    rowPhases: [PHASE.ADVANCE, PHASE.PULL],
  },
  lists: { shape: { ...DENSE, hasDenseEdges: false }, hasWideEdges: true, phases: [PHASE.PULL] },
  small: { shape: { ...DENSE, isSmall: true }, kernel: 'sweepSmall', phases: [PHASE.PULL], rowPhases: [PHASE.PULL] },
  few: {
    shape: { ...DENSE, hasDenseEdges: false, isFew: true },
    kernel: 'sweepFew',
    phases: [PHASE.PULL],
    rowPhases: [PHASE.PULL],
  },
  listed: {
    shape: { ...DENSE, listsEdges: true },
    kernel: 'sweepListed',
    phases: [PHASE.ADVANCE],
    rowPhases: [PHASE.ADVANCE],
  },
  // Both phases have the same kernels that select.
  chosen: {
    shape: { ...DENSE, selectsAlone: true },
    kernel: 'selectAlone',
    phases: [PHASE.ADVANCE, PHASE.PULL],
    rowPhases: [PHASE.ADVANCE],
  },
};

/**
 * Other manners with which a way must agree, too. Whole dispatches sweep the edges of Algorithm 1: which colours they
 * handle depends on the mesh, and lists replace both. Several kernels select the contacts of many candidates, and those of
 * very many vertices.
 */
const BESIDE: Partial<Readonly<Record<SweepWay, readonly Manner[]>>> = {
  listed: [{ shape: DENSE, hasWideEdges: true, phases: [PHASE.ADVANCE] }],
  chosen: [
    { shape: DENSE, phases: [PHASE.ADVANCE, PHASE.PULL], rowPhases: [PHASE.ADVANCE] },
    { shape: DENSE, isLarge: true, phases: [PHASE.ADVANCE] },
  ],
};

/** These kernels replace others on every device that has them. */
const CHOSEN = [...kernelFilesOf('chosen').values()].flat();

/**
 * Lets a device prove which of these ways to sweep agree. They run the same functions in the same order, but are
 * compiled separately: WGSL lets a driver round differently in each, and the choice of the way depends on the work of
 * previous steps. A way that disagrees is not used on this device, so that the same history gives the same bytes.
 *
 * @param memory an account of its own
 * @throws Error if a kernel does not run
 */
export async function proveSweeps<W extends SweepWay>(
  memory: DeviceMemory,
  kernels: KernelSet,
  ways: readonly W[],
): Promise<SweepWays<W>> {
  const subject = turn(withRest(makeSubject(SIDE), SIDE));
  const expected = new Map<string, Buffer>();
  const others = kernels.without(CHOSEN);
  const agree = async (way: SweepWay, manner: Manner, task: Task): Promise<boolean> => {
    const run = (those: KernelSet, manner: Swept) =>
      runAlone(memory, those, (place) => sweep(place, subject, manner, task));
    const bytes = expected.get(keyOf(task)) ?? (await run(others, { shape: DENSE }));
    expected.set(keyOf(task), bytes);
    return (await run(way === 'chosen' ? kernels : others, manner)).equals(bytes);
  };
  const proven: Partial<Record<W, boolean>> = {};
  for (const way of ways) {
    const manner = WAYS[way];
    let isProven = manner.kernel === undefined || kernels.has(manner.kernel);
    for (const one of [...(BESIDE[way] ?? []), manner]) {
      for (const phase of one.phases) isProven &&= await agree(way, one, { phase, isVolume: false });
      for (const phase of one.rowPhases ?? []) isProven &&= await agree(way, one, { phase, isVolume: true });
    }
    proven[way] = isProven;
  }
  return proven as SweepWays<W>;
}

type SweptPhase = typeof PHASE.ADVANCE | typeof PHASE.PULL;

/**
 * Sweeps of scenes of a convoy; the second scene submits other dispatches, so that neither repeats the work of the
 * other.
 */
const SHARED_SWEEPS: readonly { readonly phase: SweptPhase; readonly shape: Swept['shape']; readonly by: string }[] = [
  { phase: PHASE.ADVANCE, shape: DENSE, by: 'of Algorithm 1' },
  { phase: PHASE.PULL, shape: DENSE, by: 'of the pull-back' },
  { phase: PHASE.PULL, shape: { ...DENSE, isSmall: true }, by: 'of the pull-back in one workgroup' },
];

/** All of them in both forms of the rows of contacts. */
const SHARED_TASKS = [false, true].flatMap((isVolume) => SHARED_SWEEPS.map((sweeps) => ({ ...sweeps, isVolume })));

/**
 * Lets a device prove that the sweeps of a convoy give the same bytes as those of a scene alone, for two scenes of
 * different size at once.
 *
 * @param kernels those of one scene have proven that whole sweeps in one workgroup give the same bytes as the others,
 *   if a convoy has them
 * @returns what is wrong; undefined = nothing
 * @throws Error if a kernel does not run
 */
export async function findSharedSweepObjection(
  device: GPUDevice,
  kernels: BothKernels,
  isSoftware: boolean,
): Promise<string | undefined> {
  const scenes = [
    { subject: turn(makeSubject(SHARED_SIDES[0])), hasWideEdges: true },
    { subject: turn(makeSubject(SHARED_SIDES[1])), hasWideEdges: false },
  ];
  const expected = new Map<string, readonly Buffer[]>();
  for (const { shape, by, ...task } of SHARED_TASKS) {
    if (shape.isSmall && !kernels.together.has('sweepSmall')) continue;
    const works = scenes.map(
      ({ subject, hasWideEdges }) =>
        (place: ProofPlace) =>
          sweep(place, subject, { shape, hasWideEdges }, task),
    );
    const known = expected.get(keyOf(task));
    const { alone, together } = known
      ? { alone: known, together: await runTogether(device, kernels.together, isSoftware, works) }
      : await runBothWays(device, kernels, isSoftware, works);
    expected.set(keyOf(task), alone);
    const what = `sweeps ${by}${task.isVolume ? ' in the volume form' : ''}`;
    const difference = findDifference(what, alone, together);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

interface Subject {
  readonly mesh: CollisionMesh;
  /** float32[3·V] the state, y before the sweeps, and the target, which limits the lengths of edges */
  readonly x: Float32Array<ArrayBuffer>;
  readonly y: Float32Array<ArrayBuffer>;
  readonly target: Float32Array<ArrayBuffer>;
  /** int32[4·P] pairs of a vertex and a triangle, or of two edges; their kinds, and the normal of all */
  readonly pairs: Int32Array<ArrayBuffer>;
  readonly kinds: Uint32Array<ArrayBuffer>;
  readonly normal: Vector;
}

/**
 * Returns y and the multipliers of edges after a step of Algorithm 1. For the pull-back, also the multipliers of
 * contacts, after two steps, the second of which begins with the values that the first has kept.
 */
async function sweep(
  { memory, submissions, kernels }: ProofPlace,
  subject: Subject,
  { shape, hasWideEdges = false, isLarge = false }: Swept,
  task: Task,
): Promise<Buffer> {
  const isPull = task.phase === PHASE.PULL;
  const { mesh, pairs } = subject;
  const count = pairs.length / 4;
  const plan = planEdges(mesh, true);
  const edges = { ...plan, wideColours: hasWideEdges ? plan.colours.length - 1 : plan.wideColours };
  const buffers = await memory.checkAllocations('the proof', () => {
    const made = new SceneBuffers(memory, mesh, edges, count, count);
    made.reservePullBack();
    if (shape.listsEdges) made.reserveEdgeLists();
    return made;
  });
  const dispatcher = new Dispatcher(kernels, buffers);
  const steps = new StepRecorder(dispatcher, edges, isLarge ? Number.POSITIVE_INFINITY : 0);
  const pullBack = new PullBackRecorder(dispatcher, steps, edges);
  writeSubject(memory.device.queue, buffers, edges, subject, task);
  let swept = Buffer.alloc(0);
  for (const keptAt of isPull ? [0, CLOCK] : [0]) {
    const { pairCapacity, candidateCapacity } = buffers;
    // Some of the contacts find no room, as in a large mesh.
    const packedRows = Math.min(buffers.packedRows, Math.floor(count / 4));
    const control = { clock: CLOCK, pairCount: count, pairCapacity, candidateCapacity, packedRows, keptAt };
    write(memory.device.queue, buffers.control, 0, CONTROL.pack(control));
    write(memory.device.queue, buffers.y, 0, toFours(subject.y));
    const recording = submissions.begin();
    const pass = recording.beginComputePass();
    steps.arm(pass);
    if (keptAt === 0) {
      steps.linearise(pass);
      if (isPull) dispatcher.direct(pass, 'beginEdges', edges.count);
    }
    if (!isPull) steps.firstEdgeSweep(pass, shape);
    steps.findContacts(pass, !isPull && shape.listsEdges);
    steps.selectContacts(pass, shape.selectsAlone);
    if (isPull) pullBack.sweeps(pass, shape);
    else steps.sweeps(pass, shape);
    pass.end();
    // Not the whole places, whose sizes are rounded up in a convoy.
    const results = isPull
      ? [
          sliceOf(buffers.edgeRow, 16 * edges.count),
          sliceOf(buffers.named('edgePush'), 16 * edges.count),
          sliceOf(buffers.named('kept'), PULL_BACK_PAIR_BYTES * count),
        ]
      : [sliceOf(buffers.edgeLambda, 4 * edges.count)];
    const reading = await submissions.submit(recording, [
      sliceOf(buffers.y, VECTOR_BYTES * mesh.vertexCount),
      ...results,
    ]);
    swept = Buffer.concat((await reading.wait()).map((bytes) => Buffer.from(bytes)));
  }
  buffers.close();
  return swept;
}

/** Uploads the data of a subject that are the same in every step. */
function writeSubject(
  queue: GPUQueue,
  buffers: SceneBuffers,
  edges: ReturnType<typeof planEdges>,
  { mesh, x, target, pairs, kinds, normal }: Subject,
  { phase, isVolume }: Task,
): void {
  const count = pairs.length / 4;
  const parameters = PARAMETERS.pack({
    ...{ vertexCount: mesh.vertexCount, edgeCount: edges.count, wideColours: edges.wideColours, stepLimit: 100 },
    ...{ delta: DELTA, floor: 0.002, gamma: 0.9, epsilon: 0.01, sigma: SIGMA, isPlanar: 1, hasBoxes: 1 },
    isVolume: isVolume ? 1 : 0,
    ...{ coveredCandidates: 0xffffffff, hasPullBack: 1, isAiming: phase === PHASE.PULL ? 1 : 0 },
    ...{ tailRows: 0, roundRows: 0, colours: edges.colours.length - 1, sweeps: SWEEPS },
  });
  write(queue, buffers.parameters, 0, parameters);
  const of = { edges, phase: PHASE.PULL, hasOffsets: false, strains: undefined };
  write(queue, buffers.named('pullBack'), 0, packPullBack({ delta: DELTA }, { ...PULL_BACK_PLAN, isEarly: true }, of));
  write(queue, buffers.x, 0, x);
  write(queue, buffers.start, 0, x);
  write(queue, buffers.target, 0, target);
  write(queue, buffers.pairVertex, 0, pairs);
  write(queue, buffers.pairInfo, 0, kinds);
  // n, and the target gap of the pair.
  const normals = Float32Array.from({ length: 4 * count }, (_, k) => [...normal, 0.6 * DELTA][k % 4]!);
  write(queue, buffers.pairNormal, 0, normals);
}

/** Makes a sheet over another one, closer than δ; y tears edges of both and moves them together. */
function makeSubject(side: number): Subject {
  const random = makeProofRandom(20_261_123);
  const perSheet = side * side;
  const at = (sheet: number, i: number, j: number): number => perSheet * sheet + side * i + j;
  const triangles: number[] = [];
  const pairs: number[] = [];
  const kinds: number[] = [];
  const rest = new Float32Array(6 * perSheet);
  for (const sheet of [0, 1]) {
    for (let i = 0; i < side; i++) {
      for (let j = 0; j < side; j++) {
        rest.set([i + 0.3 * sheet, j + 0.2 * sheet, 0.5 * DELTA * sheet], 3 * at(sheet, i, j));
        if (i + 1 === side || j + 1 === side) continue;
        const [a, b, c, d] = [at(sheet, i, j), at(sheet, i + 1, j), at(sheet, i + 1, j + 1), at(sheet, i, j + 1)];
        triangles.push(a, b, c, a, c, d);
        if (sheet === 0) continue;
        // Includes a neighbour of the triangle below, so that many rows share vertices.
        for (const above of [a, d]) pairs.push(above, a - perSheet, b - perSheet, c - perSheet);
        kinds.push(VT, VT);
        if ((i + j) % 3 > 0) continue;
        // Crosses the edge below.
        pairs.push(a, b, b - perSheet, c - perSheet);
        kinds.push(EE);
      }
    }
  }
  const mesh = buildMesh({ vertexCount: 2 * perSheet, triangles: Uint32Array.from(triangles) });
  const near = (amountOf: (v: number) => number) =>
    rest.map((value, k) => Math.fround(value + amountOf(Math.floor(k / 3)) * (random() - 0.5)));
  // Some edges are torn, and their neighbours follow; the others are within their limits.
  const isTorn = (v: number): boolean => v % perSheet < (side * side) / 2;
  const y = near((v) => (isTorn(v) ? 0.8 : 0.2 * DELTA));
  const x = near(() => 0.2 * DELTA);
  return { mesh, x, y, target: rest, pairs: Int32Array.from(pairs), kinds: Uint32Array.from(kinds), normal: [0, 0, 1] };
}

/** The same with vertices at rest beside the torn edges, some edges of which move, so that their pairs are examined. */
function withRest(subject: Subject, side: number): Subject {
  const y = subject.y.slice();
  const perSheet = side * side;
  for (let v = 0; v < 2 * perSheet; v++) {
    const place = (v % perSheet) / perSheet;
    if (place >= 1 / 2 && place < 3 / 4) y.set(subject.x.subarray(3 * v, 3 * v + 3), 3 * v);
  }
  return { ...subject, y };
}

/**
 * The same, turned so that no edge or normal is parallel to an axis, with a mass of its own for each vertex, of which
 * some are infinite: if terms are 0 or 1, neither the order of a sum nor the rounding of a product shows.
 */
function turn({ mesh, x, y, target, normal, ...pairs }: Subject): Subject {
  const random = makeProofRandom(20_261_126);
  const turnAll = (points: Float32Array): Float32Array<ArrayBuffer> => {
    const turned = new Float32Array(points.length);
    for (let k = 0; k < points.length; k += 3) turned.set(turnOne([points[k]!, points[k + 1]!, points[k + 2]!]), k);
    return turned;
  };
  const inverseMasses = mesh.inverseMasses.map((w) => (random() < INFINITE_SHARE ? 0 : w * (0.5 + random())));
  const all = { x: turnAll(x), y: turnAll(y), target: turnAll(target) };
  return { mesh: { ...mesh, inverseMasses }, ...all, ...pairs, normal: turnOne(normal) };
}

type Vector = readonly [x: number, y: number, z: number];

/** The rotation of the quaternion 5 + i + 2j + 3k. */
const turnOne = ([x, y, z]: Vector): Vector => [
  (13 * x - 26 * y + 26 * z) / 39,
  (34 * x + 19 * y + 2 * z) / 39,
  (22 * y - 14 * x + 29 * z) / 39,
];
