import type { ElementPair } from '../contract/elements.js';
import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { UntangleAnswer, UntangleReport, UntangleStatus } from '../contract/untangle.js';
import { scalarOf } from '../mesh/positions.js';
import { createCpuEngine } from '../solver/cpu/engine.js';
import type { EnginePositions, Scene } from '../solver/engine.js';
import { CoordinateFrame, floorOf } from '../solver/frame.js';
import { rangeOfDistances } from '../solver/part-distances.js';
import type { PairRules, StateFindings } from '../verify/types.js';
import { Budget, type Ended, whyGivenUp } from './budget.js';
import { type Contour, findContours } from './contours.js';
import { groupCrossings } from './crossings.js';
import { Gains, type Tested } from './gains.js';
import { checkBounds, readHints, refuseUnknownContours } from './hints.js';
import { RegionsLeftOut } from './left-out.js';
import { lengthsAtRest, surfaceOf } from './measures.js';
import { ElementIds, readPierces } from './pierces.js';
import type { UntanglePiece, UntangleProblem, UntangleTools } from './problem.js';
import { pushThrough } from './push.js';
import { type Region, regionsOf } from './regions.js';
import { describeContours, measureMoved, measureStretch } from './report.js';
import { type Decision, decideSides, type Guidance } from './sides.js';
import { describeTopology, type Topology } from './topology.js';

const MAX_ITERATIONS = 60;
/** Steps of the engine in an iteration. */
const STEPS = 8;
/** Pairs that are looked at; a state with more of them is not one that can be untangled. */
const MOST_PAIRS = 1_000_000;
const NAMED = 64;
/**
 * In the pull-back, what was not pushed is so many times as heavy. A limit of an edge between two vertices moves the heavy one by a
 * thousandth of what it moves the other: a push of some edges, 10 δ each, leaves it within a share of δ.
 */
const HEAVIER = 1000;
/** What pushing has reached. */
interface Pushed {
  /** the last state, if it is free */
  readonly free: EnginePositions | undefined;
  /** of those that are near enough, the state with the fewest pierces */
  readonly best: EnginePositions;
  /** of the start, in the caller's numbers */
  readonly first: Analysis;
  readonly counts: readonly number[];
  readonly ended: Ended | undefined;
  readonly leftOutPierces: number;
  readonly leftOutVertices: number;
  readonly limitedRegions: number;
  readonly pushingEngine: string;
}

interface Analysis {
  readonly at: Float64Array;
  readonly pairs: readonly ElementPair[];
  readonly contours: readonly Contour[];
  readonly decisions: Map<number, Decision>;
  readonly regions: Region[];
  /** contours that are made shorter, in place of their regions being pushed through */
  readonly shortened: Contour[];
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
  readonly #budget: Budget;
  readonly #gains = new Gains();
  /** pieces of the path since the best state, where somebody listens */
  readonly #sinceBest: UntanglePiece[] = [];

  constructor(problem: UntangleProblem, tools: UntangleTools) {
    const { mesh, positions, measures, parameters, options } = problem;
    checkBounds(options);
    this.#problem = problem;
    this.#tools = tools;
    this.#budget = new Budget(tools);
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
      const found = { ...(await this.#pushAll(scene)), pushingEngine: engine.description.name };
      const { best, free } = found;
      if (!free) return await this.#answer(found, [best]);
      const pulled = await this.#pullBack(free).catch((thrown: unknown) => ({
        x: undefined,
        ended: whyGivenUp(thrown),
      }));
      const states = pulled.x ? [pulled.x, free, best] : [free, best];
      return await this.#answer({ ...found, ended: pulled.ended }, states);
    } finally {
      scene.close();
    }
  }

  async #pushAll(scene: Scene): Promise<Omit<Pushed, 'pushingEngine'>> {
    // What intersects in the start is what intersects in the caller's numbers, from which the engine's may be rounded.
    const start = Float64Array.from(this.#problem.positions);
    let findings = await this.#budget.measure(() => this.#test(start, this.#tools.checkpoints?.start));
    if (findings.intersectionCount > MOST_PAIRS) refuseTooMany(findings.intersectionCount);
    const run = {
      first: this.#beginAnalysis(start, findings, 1),
      counts: [] as number[],
      free: undefined as EnginePositions | undefined,
      ended: undefined as Ended | undefined,
      leftOutPierces: 0,
      limitedRegions: 0,
    };
    const leftOut = new Set<number>();
    let x = this.#start;
    try {
      for (let analysis = run.first, n = 1; ; n++) {
        let at: Float64Array = start;
        if (n > 1) {
          at = this.#frame.toDouble(x);
          findings = await this.#budget.measure(() => this.#test(at, this.#budget.pulse));
        }
        const { intersectionCount: count } = findings;
        run.counts.push(count);
        const here: Tested = { x, at, findings };
        const noted = this.#gains.note(here, () => this.#isNear(this.#toCaller(here.x)));
        if (noted === 'BEST') this.#tellPieces();
        // Back at the best state, what has happened since then is no part of the path.
        if (noted === 'BACK') this.#sinceBest.length = 0;
        const from = noted === 'BACK' ? this.#gains.best! : here;
        const isReadable = from.findings.intersectionCount <= MOST_PAIRS;
        if (n > 1 && isReadable) analysis = this.#beginAnalysis(from.at, from.findings, n);
        if (count > 0 && isReadable) this.#analyse(analysis, n);
        this.#tell('UNTANGLING', n, count, analysis);
        if (count === 0) {
          run.free = x;
          this.#tellPieces();
        } else if (this.#gains.isHopeless || !isReadable) run.ended = 'NO_PROGRESS';
        if (run.free || run.ended || n > (this.#problem.options.maxIterations ?? MAX_ITERATIONS)) break;
        this.#budget.pulse();
        this.#mark(analysis.regions, n === 1);
        for (const { vertices } of analysis.regions) for (const v of vertices) leftOut.add(v);
        run.leftOutPierces += analysis.pairs.length;
        run.limitedRegions += analysis.regions.filter(({ isLimited }) => isLimited).length;
        const rule = new RegionsLeftOut(this.#topology, analysis.pairs, analysis.regions);
        x = await this.#step(scene, from.x, this.#aim(from.x, analysis), rule);
      }
    } catch (thrown) {
      run.ended = whyGivenUp(thrown);
    }
    return { ...run, best: this.#gains.best?.x ?? this.#start, leftOutVertices: leftOut.size };
  }

  /** Tells the pieces since the best state: they lead to a better one, or to the one that is pulled back. */
  #tellPieces(): void {
    for (const piece of this.#sinceBest) this.#tools.onPiece?.(piece);
    this.#sinceBest.length = 0;
  }

  async #test(x: Positions, checkpoint?: () => void): Promise<StateFindings> {
    return this.#tools.testState(this.#problem.mesh, x, { ...this.#rules, checkpoint });
  }

  /** The contours of a state, of which nothing is decided yet. */
  #beginAnalysis(at: Float64Array, findings: StateFindings, n: number): Analysis {
    const { pierces, pairs } = readPierces(this.#topology, this.#ids, at, findings);
    const contours = findContours(this.#topology, pierces);
    if (n === 1) refuseUnknownContours(this.#problem.options, contours.length);
    return { at, pairs, contours, decisions: new Map(), regions: [], shortened: [] };
  }

  /** Decides sides and finds regions. @throws Interrupted, with what has been decided by then in the analysis */
  #analyse({ at, contours, decisions, regions, shortened }: Analysis, n: number): void {
    const [topology, { pulse }] = [this.#topology, this.#budget];
    const guidance = n === 1 ? this.#guidance : { ...this.#guidance, turned: new Set<number>() };
    const tools = { topology, x: at, edge: this.#problem.measures.typicalEdge, rings: this.#gains.rings, pulse };
    for (const crossing of groupCrossings(topology, contours)) {
      pulse();
      for (const [c, decision] of decideSides(topology, at, contours, crossing, guidance)) {
        const isGuess = decision.why === 'SMALLER' || decision.why === 'COST';
        if (isGuess && this.#gains.shortens) shortened.push(contours[c]!);
        else regions.push(...regionsOf(tools, contours, c, crossing, decision));
        decisions.set(c, decision);
      }
    }
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

  #aim(x: EnginePositions, { at, regions, shortened }: Analysis): EnginePositions {
    const { mesh, measures, parameters } = this.#problem;
    const { targets, zone } = pushThrough(this.#topology, at, regions, shortened, {
      edge: measures.typicalEdge,
      gap: parameters.activationDistance / 2,
      lengths: this.#lengths,
      pulse: this.#budget.pulse,
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
    const { mesh, parameters } = this.#problem;
    this.#tell('PULLING_BACK', 0, 0, undefined);
    // What was not pushed is heavy, so that what was pushed keeps the limits of the edges between the two.
    const inverseMasses = mesh.inverseMasses.map((w, v) => (this.#isPushed(v) ? w : w / HEAVIER));
    const units = { scale: this.#frame.scale, floor: this.#floor };
    const scene = await this.#tools.engine.open(
      { ...mesh, inverseMasses },
      { ...parameters, method: 'TWO_WAY' },
      units,
    );
    try {
      const { positions, status } = await scene.resolve({
        x,
        y: this.#start,
        ...this.#interrupts(),
        ...this.#recorder(x, undefined),
      });
      return {
        x: positions.slice(),
        ended: status === 'DEADLINE' ? (this.#budget.whyOver() ?? 'TIME_BUDGET') : undefined,
      };
    } finally {
      scene.close();
    }
  }

  #interrupts() {
    return {
      shouldStop: () => this.#budget.timeLeft() <= 0,
      timeLeft: () => this.#budget.timeLeft(),
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
        const piece = { from, to, leftOut };
        if (leftOut) this.#sinceBest.push(piece);
        else onPiece(piece);
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
    this.#tell('CHECKING_ANSWER', 0, this.#gains.best?.findings.intersectionCount ?? 0, undefined);
    const before = found.counts[0]!;
    let best: { positions: Positions; findings: StateFindings } | undefined;
    for (const engine of new Set(states)) {
      const sent = this.#toCaller(engine);
      if (!this.#isNear(sent)) continue;
      const findings = await this.#test(sent, this.#tools.checkpoints?.answer);
      if (!best || findings.intersectionCount < best.findings.intersectionCount) best = { positions: sent, findings };
      if (findings.intersectionCount === 0) break;
    }
    // Where nothing was gained, the answer is the start itself.
    if (!best || (best.findings.intersectionCount > 0 && best.findings.intersectionCount >= before))
      best = { positions: positions.slice(), findings: await this.#test(positions) };
    const { findings, positions: answer } = best;
    const after = findings.intersectionCount;
    const status: UntangleStatus = after === 0 ? 'FREE' : after < before ? 'PARTIAL' : 'UNRESOLVED';
    const report: UntangleReport = {
      status,
      piercesBefore: before,
      piercesAfter: after,
      piercesByIteration: found.counts,
      contours: describeContours(this.#topology, found.first.at, found.first),
      regions: measureMoved(answer, positions, (v) => this.#isPushed(v)),
      outside: measureMoved(answer, positions, (v) => !this.#isPushed(v)),
      ...measureStretch(mesh, answer, this.#lengths),
      leftOutPierces: found.leftOutPierces,
      leftOutVertices: found.leftOutVertices,
      limitedRegions: found.limitedRegions,
      pushingEngine: found.pushingEngine,
      ...(found.ended ? { ended: found.ended } : {}),
      remaining: findings.intersections.slice(0, NAMED),
    };
    return { positions: answer, report, regions: this.#regions };
  }

  #isPushed(v: number): boolean {
    return this.#pushed[v] === 1 || this.#regions[v] !== -1;
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
