import t from 'tap';
import { DISPATCH_BYTES, launch } from '../../../gpu/device/dispatch.js';
import { KernelSet } from '../../../gpu/device/kernel.js';
import { sliceOf, write } from '../../../gpu/device/place.js';
import { Reader } from '../../../gpu/device/readback.js';
import {
  LIST_SLOT,
  PHASE,
  type Phase,
  SEARCH_MODE,
  STATE,
  STEP_SLOT,
  SUM_GROUPS,
} from '../../../gpu/kernels/constants.js';
import { CONTROL, PARAMETERS, PULL_BACK } from '../../../gpu/kernels/structs.js';
import type { EntryPoint } from '../../../gpu/kernels/table.js';
import { uploadAll } from '../../../gpu/proof/places.js';
import { loadKernel } from '../../../gpu/shaders.js';
import type { ControlBlock } from '../../../gpu/step/answer.js';
import { BEGINS_FINER } from '../../../gpu/step/step-loop.js';
import { EXCESS_WEIGHT } from '../../../src/solver/constants.js';
import { openTestDevice } from '../../support/gpu.js';
import {
  type Asked,
  type MadeStep,
  type ModelEnd,
  type ModelPlan,
  meritOf,
  PullBackModel,
  type WeighedState,
} from '../../support/pull-back-model.js';
import { type Random, roundsUntil, seeded } from '../../support/random.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

const FILE = 'pull-back/decide';
const RUNS = 200;
/** One workgroup makes each sum. */
const VERTICES = 50;
/** Pairs up to which a step is cheap, and those of a heap. */
const CHEAP = 1000;
const [FEW, HEAP] = [10, 2500];
/** Longer than any run: those that gain in every step end at their limit. */
const MOST_TURNS = 2000;

/** Each is a fault of the decisions: what a line says, and what it says instead. */
const FAULTS: readonly (readonly [text: string, by: string])[] = [
  // Steps that only regain what the last steps gave away are repeated.
  [
    'let isLower = control.hasGained == 1u && left <= (1.0 - cheapGain) * control.resumedMerit;',
    'let isLower = control.hasGained == 1u;',
  ],
  ['control.resumedMerit = select(control.resumedMerit, left, mayResume);', ''],
  [
    'let isSettled = !isHeld && (isStill || (poor >= MAX_POOR_STEPS && !isRecovering));',
    'let isSettled = isStill || (poor >= MAX_POOR_STEPS && !isRecovering);',
  ],
  ['let isJudged = isPull && !isRelease;', 'let isJudged = isPull;'],
  ['select(1u, 0u, isRecovering)', '1u'],
  [' || (hasRecovered && cost == 1.0)', ''],
  [' && control.wasTaut == 1u && isLess;', ' && isLess;'],
];

interface Kind {
  /** shares of Φ that steps gain */
  readonly gains: readonly number[];
  /** parts that edges have in Φ */
  readonly excesses: readonly number[];
  /** share of the steps in which a box holds a vertex */
  readonly held: number;
}

const SLACK = [0, 0, 1e-6, 0.2];

/** Runs of these kinds reach all phases. No gain is nearly what a step must gain, nor that times the cost of a step. */
const KINDS: readonly Kind[] = [
  { gains: [0.3, 0.06, 0.0005], excesses: SLACK, held: 0.03 },
  { gains: [0.06, 0.0003, -0.02, 0.0003, 0.0003], excesses: [0.05, 0.3, 0.05, 1e-6], held: 0.03 },
  { gains: [-0.01, -0.2, -0.3], excesses: SLACK, held: 0.03 },
  { gains: [0.3, 0.06, 0.0005, -0.02, -0.5, 0.0003], excesses: SLACK, held: 0.6 },
  { gains: [0.3, 0.06, 0.0005, -0.02, -0.5, 0.0003], excesses: SLACK, held: 0.03 },
];
const OF_RELEASE: Kind = { gains: [0.3, 0.0005, 0.0005, -0.1], excesses: SLACK, held: 0.6 };
/** Shares of the excess that steps take which only shorten edges. */
const SHORTENINGS = [1, 0.5, 0.05, 0.01, -0.1];

const pick = <T>(random: Random, values: readonly T[]): T => values[random.int(values.length)]!;

function planOf(random: Random): ModelPlan {
  return {
    minGain: pick(random, [0.01, 0.02]),
    finer: random() < 0.4 ? { minGain: 0.001 } : undefined,
    isEarly: random() < 0.6,
    stepLimit: pick(random, [4, 12, 40, 200]),
    reservedSteps: pick(random, [0, 2, 20]),
    far: pick(random, [0, 0.1, 3]),
    progress: 0.02,
  };
}

/** A step from the best state. Where nothing wants to move, the state is one that there was before. */
function makeStep(random: Random, best: WeighedState, phase: Phase, kind: Kind): MadeStep {
  const { gains, excesses, held } = phase === PHASE.RELEASE ? OF_RELEASE : kind;
  const isShortening = phase === PHASE.SHORTEN;
  const moving = random() < 0.02 ? 0 : 40;
  const merit = meritOf(best) * (1 - pick(random, gains));
  const excess = (pick(random, excesses) * merit) / EXCESS_WEIGHT;
  let state: WeighedState = { distances: merit - EXCESS_WEIGHT * excess, excess };
  if (random() < 0.002) state = { distances: 0, excess: 0 };
  if (moving === 0) state = random() < 0.5 ? best : { ...best, distances: 1.02 * best.distances + 1e-3 };
  if (isShortening) {
    state = { distances: 1.01 * best.distances, excess: Math.fround(best.excess * (1 - pick(random, SHORTENINGS))) };
  }
  return {
    ...{ state, moving },
    nearGain: pick(random, [0, 0, 0, 0.04, -0.04]),
    cost: Math.max(1, (random() < 0.03 ? HEAP : FEW) / CHEAP),
    jammed: pick(random, [0, 25, 39]),
    isHeld: random() < held,
    isLeaping: random() < (phase === PHASE.RELEASE ? 0.8 : 0.3),
    hasKept: !isShortening && phase !== PHASE.RELEASE && phase !== PHASE.OTHERS && random() < 0.5,
    hasFree: !isShortening && phase !== PHASE.RELEASE && random() < 0.3,
  };
}

if (!gpu) t.test('the decisions of the pull-back', options, async () => undefined);
else {
  const { memory } = gpu;
  const { queue } = memory.device;
  const named = uploadAll(memory, {
    parameters: PARAMETERS.pack({}),
    control: CONTROL.pack({}),
    stepArguments: new ArrayBuffer(DISPATCH_BYTES * STEP_SLOT.FIRST_EDGES),
    candidateArguments: new ArrayBuffer(DISPATCH_BYTES * LIST_SLOT.COUNT),
    edgeColours: new ArrayBuffer(16),
    sums: new ArrayBuffer(2 * 16 * SUM_GROUPS),
    pullBack: PULL_BACK.pack({}),
  });
  const reader = new Reader(memory);
  t.teardown(() => reader.close());

  /** Runs a kernel. @param parts of Φ, and of its change from the best state; those of the near vertices */
  const run = async (
    kernels: KernelSet,
    entry: EntryPoint,
    control: ControlBlock,
    parts: readonly number[] = [],
    near: readonly number[] = [],
  ): Promise<ControlBlock> => {
    const sums = new Float32Array(8 * SUM_GROUPS);
    sums.set(parts);
    sums.set(near, 4 * SUM_GROUPS);
    write(queue, named.sums!, 0, sums);
    write(queue, named.control!, 0, CONTROL.pack(control));
    const kernel = kernels.get(entry);
    const encoder = memory.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    launch(pass, { kernel, bindings: kernel.bindings(named), size: [1, 1], most: 1 });
    pass.end();
    queue.submit([encoder.finish()]);
    const [bytes] = await (await reader.read([sliceOf(named.control!, CONTROL.bytes)])).wait();
    return CONTROL.unpack(bytes!);
  };

  const partsOf = (state: WeighedState, best: WeighedState): number[] => [
    ...[state.distances, state.excess],
    ...[state.distances - best.distances, state.excess - best.excess],
  ];

  /** A run on the device, with the host's part of it (StepLoop, Phases). */
  class DeviceRun {
    readonly #kernels: KernelSet;
    readonly #plan: ModelPlan;
    control = CONTROL.unpack(CONTROL.pack({}));
    /** the one whose steps are recorded */
    phase: Phase = PHASE.PULL;
    readonly phases = new Set<Phase>();

    constructor(kernels: KernelSet, plan: ModelPlan) {
      this.#kernels = kernels;
      this.#plan = plan;
    }

    async open(phase: Phase, best: WeighedState): Promise<void> {
      this.phase = phase;
      const { minGain, finer, isEarly, stepLimit, reservedSteps, far, progress } = this.#plan;
      const isShortening = phase === PHASE.SHORTEN;
      const parameters = PARAMETERS.pack({
        vertexCount: VERTICES,
        stepLimit: isShortening ? stepLimit + reservedSteps : stepLimit,
        reservedSteps: isShortening ? 0 : reservedSteps,
        hasEarlyPullBack: isEarly ? 1 : 0,
      });
      write(queue, named.parameters!, 0, parameters);
      const pullBack = PULL_BACK.pack({
        phase: isShortening ? phase : PHASE.PULL,
        hasFiner: finer && (phase === PHASE.PULL || phase === PHASE.RESUME) ? 1 : 0,
        minGain: phase === PHASE.REFINE ? finer!.minGain : minGain,
        ...{ cheapPairs: CHEAP, far, progress },
      });
      write(queue, named.pullBack!, 0, pullBack);
      const control = { ...this.control, phase, state: STATE.RUNNING, wantsSearch: SEARCH_MODE.ALL };
      if (phase === PHASE.REFINE) this.control = { ...control, ...BEGINS_FINER };
      else if (isShortening) this.control = await run(this.#kernels, 'openShortening', control);
      else this.control = await run(this.#kernels, 'openPull', control, partsOf(best, best));
    }

    async rate(best: WeighedState): Promise<void> {
      this.control = await run(this.#kernels, 'ratePull', this.control, partsOf(best, best));
    }

    async step({ state, ...made }: MadeStep, best: WeighedState): Promise<void> {
      this.phases.add(this.phase);
      const control = {
        ...this.control,
        unitBits: new Uint32Array(Float32Array.of(1).buffer)[0]!,
        pairCount: made.cost > 1 ? HEAP : FEW,
        movingCount: made.moving,
        jammedCount: made.jammed,
        heldCount: Number(made.isHeld),
        isLeaping: Number(made.isLeaping),
        hasKept: Number(made.hasKept),
        hasFree: Math.max(this.control.hasFree, Number(made.hasFree)),
      };
      this.control = await run(this.#kernels, 'decidePull', control, partsOf(state, best), [1, -made.nearGain]);
    }

    /** What differs from what the model asks for; undefined = nothing. */
    differs(asked: Asked): string | undefined {
      const { state, isThorough, isClosed, wantsSearch } = this.control;
      if (asked.what === 'BEST') return undefined;
      if (state !== STATE.RUNNING || this.phase !== asked.phase) return `a step of phase ${asked.phase} is next`;
      if (asked.what === 'RATED') return undefined;
      if (asked.isThorough !== undefined && asked.isThorough !== (isThorough === 1))
        return `isThorough is ${isThorough}`;
      if (asked.isClosed !== undefined && asked.isClosed !== (isClosed === 1)) return `isClosed is ${isClosed}`;
      const wants = wantsSearch !== SEARCH_MODE.NONE;
      if (asked.demandsSearch !== undefined && asked.demandsSearch !== wants) return `wantsSearch is ${wantsSearch}`;
      return undefined;
    }

    endsOtherwise({ status, steps }: ModelEnd): string | undefined {
      const { state } = this.control;
      const ended = {
        CONVERGED: STATE.CONVERGED,
        STALLED: STATE.STALLED,
        STEP_LIMIT: STATE.AT_STEP_LIMIT,
        DEADLINE: -1,
      }[status];
      if (state === ended && this.control.steps === steps) return undefined;
      return `it ends as ${status} after ${steps} steps`;
    }
  }

  /** A random run of the model and of the device: where they differ, and the phases that it has had. */
  const compare = async (kernels: KernelSet, random: Random) => {
    const plan = planOf(random);
    const kind = pick(random, KINDS);
    const device = new DeviceRun(kernels, plan);
    let best: WeighedState = { distances: pick(random, [30, 2]), excess: pick(random, [0.001, 1e-7, 0]) };
    let isShortened = false;
    await device.open(PHASE.PULL, best);
    const model = new PullBackModel(plan).run();
    let next = model.next();
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      const { control, phase, phases } = device;
      const tell = (difference: string) =>
        `${difference}; the device: state ${control.state}, phase ${phase}, after ${control.steps} steps of ${JSON.stringify(plan)}`;
      // As at a pause; the last steps have given away nearness, or none.
      if (control.state === STATE.NEEDS_PHASE) {
        const asked = control.phase as Phase;
        if (isShortened) best = { ...best, distances: best.distances * pick(random, [0.9, 1, 1.03]) };
        isShortened = false;
        await device.open(asked, best);
        continue;
      }
      if (next.done) {
        const difference = device.endsOtherwise(next.value);
        return { difference: difference && tell(difference), phases, resumptions: next.value.resumptions };
      }
      const asked = next.value;
      const difference = device.differs(asked);
      if (difference) return { difference: tell(difference), phases, resumptions: 0 };
      if (asked.what === 'BEST') {
        next = model.next({ best });
        continue;
      }
      if (asked.what === 'RATED') {
        // Contacts count from here on.
        best = { ...best, distances: best.distances + pick(random, [0, 0.1]) };
        await device.rate(best);
        next = model.next({ best });
        continue;
      }
      const step = makeStep(random, best, phase, kind);
      await device.step(step, best);
      const isShortening = phase === PHASE.SHORTEN;
      const isBest = isShortening ? step.state.excess < best.excess : meritOf(step.state) < meritOf(best);
      if (isBest) best = step.state;
      isShortened ||= isBest && isShortening;
      next = model.next({ best, step });
    }
    throw new Error('A run does not end.');
  };

  t.test('decisions are those of the reference, for steps with any results', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const phases = new Set<Phase>();
    let resumptions = 0;
    const isEnough = () => phases.size === Object.keys(PHASE).length - 1 && resumptions > 2;
    for (const _ of roundsUntil(RUNS, isEnough)) {
      const compared = await compare(gpu.kernels, random);
      if (compared.difference !== undefined) return t.fail(compared.difference);
      for (const phase of compared.phases) phases.add(phase);
      resumptions = Math.max(resumptions, compared.resumptions);
    }
    t.ok(isEnough(), `phases ${[...phases]}, ${resumptions} resumptions`);
  });

  for (const [text, by] of FAULTS) {
    t.test(`a fault shows: ${text}`, async (t) => {
      const random = seeded();
      t.comment(`seed ${random.seed}`);
      const code = loadKernel(FILE, memory.device.features.has('subgroups'));
      t.equal(code.split(text).length, 2, 'the text occurs once');
      const isOfFile = (entry: EntryPoint) => ['openPull', 'openShortening', 'ratePull', 'decidePull'].includes(entry);
      const load = () => code.replace(text, by);
      const faulty = await KernelSet.compile(memory.device, ['pull-back'], { load, only: isOfFile });
      let shown: string | undefined;
      for (const _ of roundsUntil(RUNS, () => shown !== undefined))
        shown ??= (await compare(faulty, random)).difference;
      t.ok(shown !== undefined, shown ?? 'no run differs');
    });
  }
}
