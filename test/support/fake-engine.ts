import { IntersticeError } from '../../src/contract/errors.js';
import type { Parameters } from '../../src/contract/parameters.js';
import type { Status } from '../../src/contract/report.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import type {
  ConvoyCounts,
  Engine,
  EnginePositions,
  EngineUnits,
  Resolution,
  StepInput,
} from '../../src/solver/engine.js';

/** What a fake engine does with one step: from its input it makes up a resolution. */
export type Behaviour = (step: StepInput, scene: { mesh: CollisionMesh }) => Resolution | Promise<Resolution>;

/** The calls that a fake engine received, in order. */
export interface Opened {
  readonly mesh: CollisionMesh;
  readonly parameters: Parameters;
  readonly units: EngineUnits;
  /** parameters and units of every configure, in order */
  readonly configured: { readonly parameters: Parameters; readonly units: EngineUnits }[];
  closed: boolean;
}

/**
 * An engine that behaves as a test specifies, and records its calls. It handles no collisions. Scenes on a device are
 * read, not saved, so that no step keeps what it begins from.
 */
export function fakeEngine(
  behaviour: Behaviour,
  { hasCheapStates = true, isOnDevice = false } = {},
): Engine & { readonly opened: Opened[] } {
  const opened: Opened[] = [];
  return {
    opened,
    hasCheapStates,
    description: { name: 'fake', adapter: 'none', software: true, maxBufferBytes: 0 },
    async open(mesh, parameters, units) {
      const record: Opened = { mesh, parameters, units, configured: [], closed: false };
      opened.push(record);
      const saved = { parameters, units, step: isOnDevice ? 1 : 0, proximity: undefined };
      return {
        bytes: 0,
        resolve: async (step) => behaviour(step, { mesh }),
        configure: (parameters, units) => {
          record.configured.push({ parameters, units });
        },
        ...(isOnDevice ? { read: async () => saved } : { save: () => saved }),
        close: () => {
          record.closed = true;
        },
      };
    },
    close: async () => {},
  };
}

export function resolution(step: StepInput, positions: EnginePositions, status: Status, steps: number): Resolution {
  const vertexCount = positions.length / 3;
  const residuals = new Float32Array(vertexCount);
  for (let v = 0; v < vertexCount; v++) {
    residuals[v] = [0, 1, 2].every((k) => positions[3 * v + k] === step.y[3 * v + k]) ? 0 : 1;
  }
  const unfinishedVertices = residuals.reduce((sum, r) => sum + r, 0);
  return {
    status,
    positions,
    residuals,
    steps,
    searches: 1,
    proximitySetReused: false,
    residual: unfinishedVertices > 0 ? 1 : 0,
    unfinishedVertices,
    pairs: { vertexTriangle: 1, edgeEdge: 2, vertexEdge: 3, vertexVertex: 4, activeContacts: 5, colours: 6 },
    touchingPairs: 0,
    limitingPairs: [{ kind: 'VERTEX_TRIANGLE', a: [0], b: [1, 2, 3], distance: 1 }],
    timings: { search: 1, geometry: 2, backward: 3, forward: 4 },
  };
}

/** Moves in `count` equal steps up to `fraction` of the motion; asks whether to stop before each. */
export function stepping(count: number, fraction = 1): Behaviour {
  return (step) => {
    let x: EnginePositions = step.x.slice();
    for (let k = 1; k <= count; k++) {
      if (step.shouldStop?.()) return resolution(step, x, 'DEADLINE', k - 1);
      x = between(step.x, step.y, (k / count) * fraction);
      step.onState?.(x);
      step.onProgress?.({ steps: k, residual: 1 - k / count, unfinishedVertices: 1 });
    }
    return resolution(step, x, fraction === 1 ? 'CONVERGED' : 'STALLED', count);
  };
}

/** t = 1 is y bit for bit. */
export function between(x: EnginePositions, y: EnginePositions, t: number): EnginePositions {
  return x.map((value, i) => (t === 1 ? y[i]! : value + (y[i]! - value) * t));
}

/** Factories for worker threads, which take their engine from a module by name. */
export const createSteppingEngine = () => fakeEngine(stepping(4));

/** Takes a thousand tiny steps, so that there is always a next one to stop before. */
export const createSlowEngine = () => fakeEngine(stepping(1000));

/** Never arrives: continues until it is told to stop. */
export const createEndlessEngine = () => fakeEngine(endlessly());

function endlessly(): (step: StepInput) => Resolution {
  return (step) => {
    for (let k = 0; ; k++) {
      step.onProgress?.({ steps: k, residual: 1, unfinishedVertices: 1 });
      if (step.shouldStop?.()) return resolution(step, step.x.slice(), 'DEADLINE', k);
    }
  };
}

/** Endless for a mesh of two triangles or more; anything smaller arrives in one step. */
export const createEndlessForManyEngine = () => {
  const endless = endlessly();
  return fakeEngine((step, scene) =>
    scene.mesh.triangles.length / 3 >= 2 ? endless(step) : resolution(step, step.y.slice(), 'CONVERGED', 1),
  );
};

/** The same, and few threads should have one. */
export const createCostlyEndlessEngine = () => ({ ...createEndlessForManyEngine(), isCostlyToOpen: true });

/** Small scenes go on when three of them are there; a larger one must be alone. */
export const createMeetingEngine = () => {
  let inside = 0;
  let waiting: (() => void)[] = [];
  const meet: Behaviour = async (step, { mesh }) => {
    inside++;
    try {
      if (mesh.vertexCount > 3) {
        if (inside > 1) throw new Error('A large scene is not alone.');
        await new Promise((resolve) => setImmediate(resolve));
      } else {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length < 3) return;
          for (const goOn of waiting) goOn();
          waiting = [];
        });
      }
      return resolution(step, step.y.slice(), 'CONVERGED', 1);
    } finally {
      inside--;
    }
  };
  return { ...fakeEngine(meet), isCostlyToOpen: true, together: { jobs: 3, vertices: 3 } };
};

/** A factory that takes its time and its options. */
export const createOptionEngine = async (options: unknown) => {
  await new Promise(setImmediate);
  const engine = fakeEngine(stepping(1));
  return { ...engine, description: { ...engine.description, name: `fake ${JSON.stringify(options)}` } };
};

export const createRefusingEngine = async () => {
  throw new IntersticeError('UNIMPLEMENTED', 'there is no such adapter', { hint: 'Plug one in.' });
};

/** Ends its thread when the first vertex is sent more than 60 engine units along x; else arrives. */
export const createMortalEngine = () =>
  fakeEngine((step) => {
    if (step.y[0]! - step.x[0]! > 60) process.exit(7);
    return resolution(step, step.y.slice(), 'CONVERGED', 1);
  });

/** Arrives, and ends its thread when the answer of such a step is on its way. */
export const createSoonMortalEngine = () =>
  fakeEngine((step) => {
    if (step.y[0]! - step.x[0]! > 60) setImmediate(() => setImmediate(() => process.exit(7)));
    const answer = resolution(step, step.y.slice(), 'CONVERGED', 1);
    step.onState?.(answer.positions);
    return answer;
  });

/** The same as the mortal engine, and every scene that it opens counts as submitted together with others. */
export const createCountingEngine = () => {
  const engine = createMortalEngine();
  const counts = () => {
    const submissions = engine.opened.length;
    const [parts, dispatches, launches, waited] = [2, 3, 4, 5].map((of) => of * submissions) as [
      number,
      number,
      number,
      number,
    ];
    const alone = { size: 0, strainLimits: 0, scenes: 0, memory: submissions };
    return { submissions, parts, dispatches, launches, waited, sizes: [0, submissions], alone } satisfies ConvoyCounts;
  };
  return Object.defineProperty(engine, 'convoyCounts', { get: counts });
};

/** Deaf: neither arrives nor asks whether to stop. */
export const createDeafEngine = () =>
  fakeEngine((step) => {
    step.onProgress?.({ steps: 0, residual: 1, unfinishedVertices: 1 });
    for (;;);
  });

export const createThrowingEngine = () =>
  fakeEngine(() => {
    throw new Error('The fake engine broke.');
  });

/** Asks the system for more memory than any machine has. */
export const createBoundlessEngine = () =>
  fakeEngine((step) => resolution(step, new Float32Array(new ArrayBuffer(2 ** 46)), 'CONVERGED', 0));

/** Ends its own thread, as a fault in native code would; works for a target equal to the start. */
export const createDyingEngine = () =>
  fakeEngine((step) => {
    if (step.x.every((value, i) => value === step.y[i])) return resolution(step, step.x.slice(), 'CONVERGED', 0);
    process.exit(7);
  });

/** Loses its device in every step, and says so when it has another one. */
export const createLosingEngine = () => {
  let tell: (reason: string) => void = () => {};
  const engine = fakeEngine((step) => {
    tell('The device was lost: a test.');
    return resolution(step, step.y.slice(), 'CONVERGED', 1);
  });
  const watchLosses = (listener: (reason: string) => void): void => {
    tell = listener;
  };
  return { ...engine, watchLosses };
};

/** Fills the heap. */
export const createGreedyEngine = () =>
  fakeEngine((step) => {
    const hoard: object[] = [];
    while (!step.shouldStop?.()) hoard.push(Array.from({ length: 1000 }, (_, k) => ({ k })));
    return resolution(step, step.x.slice(), 'DEADLINE', hoard.length);
  });

/** Keeps pairs, and cannot save them: for lack of memory, or because of a fault. */
const unsavable = (failure: Error) => () => {
  const engine = fakeEngine(stepping(1));
  const open = async (mesh: CollisionMesh, parameters: Parameters, units: EngineUnits) => ({
    ...(await engine.open(mesh, parameters, units)),
    // So large that no step keeps a copy of what it begins from.
    bytes: 2 ** 30,
    save: () => {
      throw failure;
    },
  });
  return { ...engine, open };
};
export const createShortOfMemoryEngine = unsavable(new RangeError('Array buffer allocation failed'));
export const createFaultySaveEngine = unsavable(new TypeError('It has no pairs.'));

/** Places of the memory that a held read shares with its test; each is 0 until it has happened. */
export const READ = { began: 0, engineClosed: 1, mayEnd: 2, ended: 3 } as const;

/** Reads its scenes as from a device, and ends a read only some turns after the test allows it. */
export const createHeldReadEngine = ({ shared }: { readonly shared: SharedArrayBuffer }) => {
  const marks = new Int32Array(shared);
  const turn = () => new Promise((resolve) => setTimeout(resolve, 1));
  const engine = fakeEngine(stepping(1));
  return {
    ...engine,
    open: async (mesh: CollisionMesh, parameters: Parameters, units: EngineUnits) => {
      const { save: _, ...scene } = await engine.open(mesh, parameters, units);
      const read = async () => {
        Atomics.store(marks, READ.began, 1);
        while (Atomics.load(marks, READ.mayEnd) === 0) await turn();
        for (let k = 0; k < 100; k++) await turn();
        Atomics.store(marks, READ.ended, 1);
        return { parameters, units, step: 0, proximity: undefined };
      };
      return { ...scene, read };
    },
    close: async () => void Atomics.store(marks, READ.engineClosed, 1),
  };
};
