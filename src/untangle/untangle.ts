import { type ErrorCode, IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { UntangleAnswer, UntangleReport, UntangleStatus } from '../contract/untangle.js';
import { scalarOf } from '../mesh/positions.js';
import { createCpuEngine } from '../solver/cpu/engine.js';
import type { EnginePositions, Scene } from '../solver/engine.js';
import { CoordinateFrame, floorOf } from '../solver/frame.js';
import { rangeOfDistances } from '../solver/part-distances.js';
import type { PairRules, StateFindings } from '../verify/types.js';
import { type Contour, findContours } from './contours.js';
import { groupCrossings } from './crossings.js';
import { checkBounds, readHints, refuseUnknownContours } from './hints.js';
import { RegionsLeftOut } from './left-out.js';
import { lengthsAtRest, surfaceOf } from './measures.js';
import { ElementIds, type Pierces, readPierces } from './pierces.js';
import type { UntangleProblem, UntangleTools } from './problem.js';
import { pushThrough } from './push.js';
import { type Region, regionsOf } from './regions.js';
import { describeContours, measureMoved, measureStretch } from './report.js';
import { type Decision, decideSides, type Guidance } from './sides.js';
import { describeTopology, type Topology } from './topology.js';

const MAX_ITERATIONS = 60;
/** Steps of the engine in an iteration. */
const STEPS = 8;
/** Iterations without a gain after which regions are widened, by so many rings, and after which there is no hope. */
const PATIENCE = 3;
const WIDER = 2;
const HOPELESS = 15;
/** Pairs that are looked at; a state with more of them is not one that can be untangled. */
const MOST_PAIRS = 1_000_000;
const NAMED = 64;
/** Milliseconds that are kept back of a budget for the pull-back and the test of the answer. */
const KEPT_BACK = 200;
/** Errors of engines that say that a request is larger than its budget or the device. */
const LACKS_MEMORY: ReadonlySet<ErrorCode> = new Set(['TOO_LARGE', 'OUT_OF_DEVICE_MEMORY']);

type Ended = NonNullable<UntangleReport['ended']>;

/** What pushing has reached. */
interface Pushed {
  /** the last state, if it is free */
  readonly free: EnginePositions | undefined;
  /** of those that are near enough, the state with the fewest pierces */
  readonly best: { readonly x: EnginePositions; readonly count: number };
  /** of the start, in the caller's numbers */
  readonly first: { readonly analysis: Analysis; readonly at: Float64Array };
  readonly counts: readonly number[];
  readonly ended: Ended | undefined;
  readonly leftOutPierces: number;
  readonly leftOutVertices: number;
}

interface Analysis {
  readonly contours: readonly Contour[];
  readonly decisions: ReadonlyMap<number, Decision>;
  readonly regions: readonly Region[];
}

/**
 * Brings a state with intersections to one without: pushes what is on a wrong side through, iteration by iteration, with every
 * other pair protected by the engine; then pulls back towards the start with every pair protected.
 *
 * The answer's numbers are tested exactly: FREE means that they have no intersection. Whatever ends it, the answer is the
 * state with the fewest pierces that was found, which is the start where none has fewer.
 *
 * @throws the refusals of hints, bounds and the frame; INVALID_PARAMETER for a turned contour that the start does not have;
 *   TOO_LARGE for a start with more than a million pierces; what the engine throws, but for a lack of memory
 */
export async function untangle(problem: UntangleProblem, tools: UntangleTools): Promise<UntangleAnswer> {
  return new Untangling(problem, tools).run();
}

class Untangling {
  readonly #problem: UntangleProblem;
  readonly #tools: UntangleTools;
  readonly #topology: Topology;
  readonly #ids: ElementIds;
  readonly #frame: CoordinateFrame;
  readonly #floor: number;
  readonly #start: EnginePositions;
  readonly #rules: PairRules;
  readonly #lengths: Float64Array;
  readonly #guidance: Guidance;
  /** int32[V] as UntangleAnswer.regions */
  readonly #regions: Int32Array;
  /** uint8[V] 1 = the vertex was pushed, or may have followed */
  readonly #pushed: Uint8Array;
  #rings = 0;

  constructor(problem: UntangleProblem, tools: UntangleTools) {
    const { mesh, positions, measures, parameters, options } = problem;
    checkBounds(options);
    this.#problem = problem;
    this.#tools = tools;
    this.#topology = describeTopology(mesh);
    this.#ids = new ElementIds(this.#topology);
    this.#frame = CoordinateFrame.fit(positions, measures.medianEdge, measures.bounds);
    const { smallest } = rangeOfDistances(mesh, parameters.activationDistance);
    this.#floor = floorOf(smallest, this.#frame, scalarOf(positions));
    this.#start = this.#frame.toEngine(positions, 'positions');
    this.#rules = { kinematicPairs: parameters.kinematicPairs, countsKinematic: false, maxPairs: MOST_PAIRS };
    this.#lengths = lengthsAtRest(mesh, positions);
    this.#regions = new Int32Array(mesh.vertexCount).fill(-1);
    this.#pushed = new Uint8Array(mesh.vertexCount);
    this.#guidance = {
      ...readHints(mesh, options),
      ...surfaceOf(this.#topology, positions),
      wasWrong: new Uint8Array(mesh.vertexCount),
    };
  }

  async run(): Promise<UntangleAnswer> {
    const { mesh, parameters } = this.#problem;
    const { engine: own } = this.#tools;
    // An engine that takes lists only leaves the steps to the reference engine; the pull-back, which leaves nothing out, is its own.
    const engine = own.leavesOutByRule ? own : createCpuEngine({ maxPairBytes: own.maxPairBytes });
    const scene = await engine.open(
      mesh,
      { ...parameters, method: 'TWO_WAY', quality: 'FAST', stepLimit: STEPS, stretchLimit: 0 },
      { scale: this.#frame.scale, floor: this.#floor },
    );
    try {
      const found = await this.#pushAll(scene);
      const { best, free } = found;
      if (!free) return await this.#answer(found, [best.x]);
      const pulled = await withinMemory(() => this.#pullBack(free));
      return await (pulled
        ? this.#answer({ ...found, ended: pulled.ended }, [pulled.x, free, best.x])
        : this.#answer({ ...found, ended: 'MEMORY' }, [free, best.x]));
    } finally {
      scene.close();
    }
  }

  async #pushAll(scene: Scene): Promise<Pushed> {
    const { maxIterations = MAX_ITERATIONS } = this.#problem.options;
    const counts: number[] = [];
    let x = this.#start;
    let best = { x, count: Number.POSITIVE_INFINITY };
    let free: EnginePositions | undefined;
    let first: Pushed['first'] | undefined;
    let ended: Ended | undefined;
    let leftOutPierces = 0;
    let sinceGain = 0;
    const leftOut = new Set<number>();
    for (let n = 1; ; n++) {
      // What intersects in the start is what intersects in the caller's numbers, from which the engine's may be rounded.
      const at = n === 1 ? Float64Array.from(this.#problem.positions) : this.#frame.toDouble(x);
      const findings = await this.#test(at);
      const { intersectionCount: count } = findings;
      counts.push(count);
      if (count > MOST_PAIRS) {
        if (n === 1) refuseTooMany(count);
        ended = 'NO_PROGRESS';
        break;
      }
      const pierces = readPierces(this.#topology, this.#ids, at, findings);
      if (count < best.count && this.#isNear(this.#toCaller(x))) {
        best = { x, count };
        sinceGain = 0;
      } else if (++sinceGain % PATIENCE === 0) this.#rings += WIDER;
      const analysis = this.#analyse(at, pierces, n);
      first ??= { analysis, at };
      this.#tell('UNTANGLING', n, count, analysis);
      if (count === 0) {
        free = x;
        break;
      }
      ended = this.#whyEnd(sinceGain);
      if (ended || n > maxIterations) break;
      this.#mark(analysis.regions, n === 1);
      for (const { vertices } of analysis.regions) for (const v of vertices) leftOut.add(v);
      leftOutPierces += count;
      const rule = new RegionsLeftOut(this.#topology, pierces.pairs, analysis.regions);
      const from = x;
      const next = await withinMemory(() => this.#step(scene, from, this.#aim(from, at, analysis.regions), rule));
      if (!next) {
        ended = 'MEMORY';
        break;
      }
      x = next;
    }
    return { free, best, first: first!, counts, ended, leftOutPierces, leftOutVertices: leftOut.size };
  }

  #whyEnd(sinceGain: number): Ended | undefined {
    if (this.#tools.isCancelled()) return 'CANCELLED';
    if (this.#tools.timeLeft() <= KEPT_BACK) return 'TIME_BUDGET';
    return sinceGain >= HOPELESS ? 'NO_PROGRESS' : undefined;
  }

  async #test(x: Positions): Promise<StateFindings> {
    return this.#tools.testState(this.#problem.mesh, x, this.#rules);
  }

  #analyse(at: Float64Array, { pierces }: Pierces, n: number): Analysis {
    const topology = this.#topology;
    const contours = findContours(topology, pierces);
    if (n === 1) refuseUnknownContours(this.#problem.options, contours.length);
    const guidance = n === 1 ? this.#guidance : { ...this.#guidance, turned: new Set<number>() };
    const decisions = new Map<number, Decision>();
    const regions: Region[] = [];
    const tools = { topology, x: at, edge: this.#problem.measures.typicalEdge, rings: this.#rings };
    for (const crossing of groupCrossings(topology, contours)) {
      for (const [c, decision] of decideSides(topology, at, contours, crossing, guidance)) {
        decisions.set(c, decision);
        regions.push(...regionsOf(tools, contours, c, crossing, decision));
      }
    }
    return { contours, decisions, regions };
  }

  #mark(regions: readonly Region[], isFirst: boolean): void {
    const { wasWrong } = this.#guidance;
    wasWrong.fill(0);
    for (const { contour, vertices } of regions) {
      for (const v of vertices) {
        wasWrong[v] = 1;
        if (this.#regions[v] === -1) this.#regions[v] = isFirst ? contour : -2;
      }
    }
  }

  #aim(x: EnginePositions, at: Float64Array, regions: readonly Region[]): EnginePositions {
    const { mesh, measures, parameters } = this.#problem;
    const { targets, zone } = pushThrough(this.#topology, at, regions, {
      edge: measures.typicalEdge,
      gap: parameters.activationDistance / 2,
      lengths: this.#lengths,
    });
    const pushed = this.#frame.toEngine(targets, 'targets');
    // What is not pushed keeps its bits: the way through double may round them.
    const y = x.slice();
    for (const v of zone) {
      this.#pushed[v] = 1;
      if (mesh.inverseMasses[v] > 0) y.set(pushed.subarray(3 * v, 3 * v + 3), 3 * v);
    }
    return y;
  }

  async #step(scene: Scene, x: EnginePositions, y: EnginePositions, leftOut: RegionsLeftOut): Promise<EnginePositions> {
    const resolution = await scene.resolve({
      x,
      y,
      excluded: leftOut,
      ...this.#interrupts(),
      ...this.#recorder(x, leftOut),
    });
    return resolution.positions.slice();
  }

  async #pullBack(x: EnginePositions): Promise<{ readonly x: EnginePositions; readonly ended: Ended | undefined }> {
    const { parameters } = this.#problem;
    this.#tell('PULLING_BACK', 0, 0, undefined);
    const units = { scale: this.#frame.scale, floor: this.#floor };
    const scene = await this.#tools.engine.open(this.#problem.mesh, { ...parameters, method: 'TWO_WAY' }, units);
    try {
      const { positions, status } = await scene.resolve({
        x,
        y: this.#start,
        ...this.#interrupts(),
        ...this.#recorder(x, undefined),
      });
      const whyEnded = this.#tools.isCancelled() ? 'CANCELLED' : 'TIME_BUDGET';
      return { x: positions.slice(), ended: status === 'DEADLINE' ? whyEnded : undefined };
    } finally {
      scene.close();
    }
  }

  #interrupts() {
    return {
      shouldStop: () => this.#tools.isCancelled() || this.#tools.timeLeft() <= 0,
      timeLeft: () => (this.#tools.isCancelled() ? 0 : this.#tools.timeLeft()),
    };
  }

  /** Tells the pieces of the path, where somebody listens. */
  #recorder(x: EnginePositions, leftOut: RegionsLeftOut | undefined) {
    const { onPiece } = this.#tools;
    if (!onPiece) return {};
    let from = this.#frame.toDouble(x);
    return {
      onState: (state: EnginePositions) => {
        const to = this.#frame.toDouble(state);
        onPiece({ from, to, leftOut });
        from = to;
      },
    };
  }

  /** Whether no vertex is farther from its start than it may be, in the numbers that are sent. */
  #isNear(sent: Positions): boolean {
    const { options, positions } = this.#problem;
    const { maxDisplacement } = options;
    return maxDisplacement === undefined || measureMoved(sent, positions, () => true).max <= maxDisplacement;
  }

  #tell(
    phase: 'UNTANGLING' | 'PULLING_BACK' | 'CHECKING_ANSWER',
    iteration: number,
    pierces: number,
    analysis: Analysis | undefined,
  ): void {
    const regionVertices = analysis?.regions.reduce((sum, { vertices }) => sum + vertices.length, 0) ?? 0;
    this.#tools.onProgress?.({ phase, iteration, pierces, contours: analysis?.contours.length ?? 0, regionVertices });
  }

  /** @param states the best first; those behind it are there in case the numbers that are sent intersect */
  async #answer(found: Pushed, states: readonly EnginePositions[]): Promise<UntangleAnswer> {
    const { mesh, positions } = this.#problem;
    this.#tell('CHECKING_ANSWER', 0, found.best.count, undefined);
    const before = found.counts[0]!;
    let best: { positions: Positions; findings: StateFindings } | undefined;
    for (const engine of new Set(states)) {
      const sent = this.#toCaller(engine);
      if (!this.#isNear(sent)) continue;
      const findings = await this.#test(sent);
      if (!best || findings.intersectionCount < best.findings.intersectionCount) best = { positions: sent, findings };
      if (findings.intersectionCount === 0) break;
    }
    // Where nothing was gained, the answer is the start itself.
    if (!best || (best.findings.intersectionCount > 0 && best.findings.intersectionCount >= before))
      best = { positions: positions.slice(), findings: await this.#test(positions) };
    const { findings, positions: answer } = best;
    const after = findings.intersectionCount;
    const status: UntangleStatus = after === 0 ? 'FREE' : after < before ? 'PARTIAL' : 'UNRESOLVED';
    const isPushed = (v: number): boolean => this.#pushed[v] === 1 || this.#regions[v] !== -1;

    const report: UntangleReport = {
      status,
      piercesBefore: before,
      piercesAfter: after,
      piercesByIteration: found.counts,
      contours: describeContours(this.#topology, found.first.at, found.first.analysis),
      regions: measureMoved(answer, positions, isPushed),
      outside: measureMoved(answer, positions, (v) => !isPushed(v)),
      ...measureStretch(mesh, answer, this.#lengths),
      leftOutPierces: found.leftOutPierces,
      leftOutVertices: found.leftOutVertices,
      ...(found.ended ? { ended: found.ended } : {}),
      remaining: findings.intersections.slice(0, NAMED),
    };
    return { positions: answer, report, regions: this.#regions };
  }

  #toCaller(engine: EnginePositions): Positions {
    const { positions } = this.#problem;
    const images = { startEngine: this.#start, targetEngine: this.#start, start: positions, target: positions };
    return this.#frame.toCaller({ engine, ...images });
  }
}

/** @throws TOO_LARGE */
function refuseTooMany(count: number): never {
  throw new IntersticeError(
    'TOO_LARGE',
    `${count} pairs of elements intersect in the start; at most ${MOST_PAIRS} can be untangled.`,
    { hint: 'Check that mesh and positions belong together.' },
  );
}

/** What an engine returns; undefined where it has no room for the pairs. */
async function withinMemory<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof IntersticeError && LACKS_MEMORY.has(error.code)) return undefined;
    throw error;
  }
}
