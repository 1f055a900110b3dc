import type { ElementPair } from '../contract/elements.js';
import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type {
  UntangleAnswer,
  UntanglePhase,
  UntangleProgress,
  UntangleReport,
  UntangleStatus,
} from '../contract/untangle.js';
import { isEqual } from '../mesh/positions.js';
import { createCpuEngine } from '../solver/cpu/engine.js';
import type { EnginePositions, Scene } from '../solver/engine.js';
import type { CoordinateFrame } from '../solver/frame.js';
import type { PairRules, StateFindings } from '../verify/types.js';
import { Budget, type Ended, endOf, Interrupted, whyGivenUp } from './budget.js';
import { type Contour, findContours, type Role } from './contours.js';
import { groupCrossings, sheetOf } from './crossings.js';
import { Gains, isGuess, isShortened, type Tested } from './gains.js';
import { checkBounds, readHints, refuseUnknownContours } from './hints.js';
import { Layering } from './layering.js';
import { RegionsLeftOut } from './left-out.js';
import { lengthsAtRest, surfaceOf } from './measures.js';
import { Path } from './path.js';
import { ElementIds, readPierces } from './pierces.js';
import type { UntangleProblem, UntangleTools } from './problem.js';
import { type Pulled, pullBack } from './pull-back.js';
import { pushThrough } from './push.js';
import { type Region, regionsOf } from './regions.js';
import { describeContours, measureMoved, measureStretch } from './report.js';
import { refuseRounded } from './rounding.js';
import { decideSides, type Guidance, type KeptDecision } from './sides.js';
import { describeTopology, type Topology } from './topology.js';
import { TurnedRegions } from './turned.js';

const MAX_ITERATIONS = 60;
/** Steps of the engine in an iteration. */
const STEPS = 8;
/** The largest number of intersecting pairs; a state with more of them cannot be untangled. */
const MOST_PAIRS = 1_000_000;
const NAMED = 64;

/** The result of pushing. */
interface Pushed {
  /** the last state, if it is free */
  readonly free: EnginePositions | undefined;
  /** the state with the fewest pierces among those that are near enough to the start */
  readonly best: EnginePositions;
  /** the analysis of the start, in the caller's numbers */
  readonly first: Analysis;
  readonly counts: readonly number[];
  readonly ended: Ended | undefined;
  readonly leftOutPierces: number;
  readonly leftOutVertices: number;
  readonly limitedRegions: number;
  readonly pushingEngine: string;
}

/** The progress within a phase. */
type Told = Omit<UntangleProgress, 'phase'>;

interface Analysis {
  readonly at: Float64Array;
  /** of these numbers */
  readonly findings: StateFindings;
  readonly pairs: readonly ElementPair[];
  readonly contours: readonly Contour[];
  readonly decisions: Map<number, KeptDecision>;
  readonly regions: Region[];
  /** contours that are shortened; their regions are not pushed through */
  readonly shortened: Contour[];
}

/**
 * Turns a state with intersections into one without. It pushes the parts on a wrong side through, iteration by
 * iteration, while the engine protects every other pair; then it pulls the state back towards the start, with every
 * pair protected.
 *
 * The numbers of the answer are tested exactly: FREE means that they have no intersection. However the untangling ends,
 * the answer is the state with the fewest pierces; if no state has fewer than the start, it is the start.
 *
 * @throws the refusals of hints and bounds; TOLERANCE_TOO_SMALL for pairs that meet only when the
 *   engine rounds the start; INVALID_PARAMETER for a reversed contour that the start does not have; TOO_LARGE for a start with more than a million pierces; errors of the engine, except a lack of
 *   memory and a lost device
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
  readonly #path: Path;
  /** the state with which the pull-back would begin, and the last iteration */
  #told: Told = { iteration: 1, pierces: 0, contours: 0, regionVertices: 0 };

  constructor(problem: UntangleProblem, tools: UntangleTools) {
    const { mesh, positions, measures, parameters, options, frame, floor } = problem;
    checkBounds(options);
    this.#problem = problem;
    this.#tools = tools;
    this.#budget = new Budget(tools);
    this.#topology = describeTopology(mesh);
    this.#ids = new ElementIds(this.#topology);
    this.#frame = frame;
    this.#floor = floor;
    this.#path = new Path(this.#frame, tools.onPiece);
    this.#start = this.#frame.toEngine(positions, 'positions');
    this.#rules = { kinematicPairs: parameters.kinematicPairs, countsKinematic: false, maxPairs: MOST_PAIRS };
    this.#lengths = lengthsAtRest({ ends: mesh.edges, rest: mesh.restLengths?.edges }, positions);
    this.#regions = new Int32Array(mesh.vertexCount).fill(-1);
    this.#pushed = new Uint8Array(mesh.vertexCount);
    const surface = surfaceOf(this.#topology, positions);
    this.#guidance = {
      ...readHints(mesh, options),
      ...surface,
      layering: new Layering(this.#topology, surface.areas, measures.typicalEdge, this.#budget.pulse),
      wasWrong: new Uint8Array(mesh.vertexCount),
      turnedRegions: new TurnedRegions(),
    };
  }

  async run(): Promise<UntangleAnswer> {
    const { mesh, parameters } = this.#problem;
    const { engine: own } = this.#tools;
    // If the engine accepts only lists of pairs, the CPU engine makes the steps. The pull-back, which leaves out few
    // pairs, runs on the engine.
    const engine = own.leavesOutByRule ? own : createCpuEngine({ maxPairBytes: own.maxPairBytes });
    let scene: Scene | undefined;
    const sceneOfSteps = async (): Promise<Scene> => {
      scene ??= await engine.open(
        mesh,
        { ...parameters, method: 'TWO_WAY', quality: 'FAST', stepLimit: STEPS, stretchLimit: 0 },
        { scale: this.#frame.scale, floor: this.#floor },
      );
      return scene;
    };
    // Its memory is free for the pull-back and for the test of the answer.
    const pushed = await this.#pushAll(sceneOfSteps).finally(() => scene?.close());
    const found = { ...pushed, pushingEngine: engine.description.name };
    const pulled = await this.#pullBack(found);
    return this.#answer({ ...found, ended: endOf(found.ended, pulled.ended) }, pulled.x);
  }

  /** @param sceneOfSteps opens the scene that makes the steps; what it throws ends the pushing, as an error of a step */
  async #pushAll(sceneOfSteps: () => Promise<Scene>): Promise<Omit<Pushed, 'pushingEngine'>> {
    // The intersections of the start are those of the caller's numbers, because the engine's numbers may be rounded.
    const start = Float64Array.from(this.#problem.positions);
    let findings = await this.#budget.measure(() => this.#test(start, this.#tools.checkpoints?.start));
    if (findings.intersectionCount > MOST_PAIRS) refuseTooMany(findings.intersectionCount);
    const begun = this.#beginFirst(start, findings);
    const run = {
      first: begun.analysis,
      counts: [] as number[],
      free: undefined as EnginePositions | undefined,
      ended: begun.ended,
      leftOutPierces: 0,
      limitedRegions: 0,
    };
    this.#told = toldOf(run.first, findings, 1);
    const leftOut = new Set<number>();
    let x = this.#start;
    try {
      for (let analysis = run.first, n = 1; !run.ended; n++) {
        let at: Float64Array = start;
        if (n > 1) {
          at = this.#frame.toDouble(x);
          findings = await this.#budget.measure(() => this.#test(at, this.#budget.pulse));
        }
        const { intersectionCount: count } = findings;
        const here: Tested = { x, at, findings, iteration: n };
        const isGuessed = 2 * guessedPierces(analysis) > analysis.pairs.length;
        const noted = this.#gains.note(here, isGuessed, () => this.#isNear(this.#toCaller(here.x)));
        if (noted === 'BEST') this.#path.keep();
        // A free state is where the pull-back begins, even if it is too far away to be the best one.
        const isBack = noted === 'BACK' && count > 0;
        // After a return to the best state, the pieces since then do not belong to the path.
        if (isBack) this.#path.forget();
        const from = isBack ? this.#gains.best! : here;
        run.counts.push(from.findings.intersectionCount);
        const isReadable = from.findings.intersectionCount <= MOST_PAIRS;
        if (n > 1 && isReadable) analysis = this.#beginAnalysis(from.at, from.findings, n);
        if (count > 0 && isReadable) this.#analyse(analysis, n);
        const told = toldOf(analysis, from.findings, n);
        this.#tell('UNTANGLING', told);
        this.#told = noted === 'ON' && count > 0 ? { ...this.#told, iteration: n } : told;
        // The pull-back of a free start leaves nothing out, so nothing may meet on the way to its image.
        if (count === 0 && n === 1) this.#refuseRounded(undefined);
        // A free state that is too far away belongs to the path if its pull-back is the answer.
        if (count === 0) run.free = x;
        else if (this.#gains.isHopeless || !isReadable) run.ended = 'NO_PROGRESS';
        if (run.free || run.ended || n > (this.#problem.options.maxIterations ?? MAX_ITERATIONS)) break;
        this.#budget.pulse();
        this.#mark(analysis.regions, n === 1);
        for (const { vertices } of analysis.regions) for (const v of vertices) leftOut.add(v);
        run.leftOutPierces += analysis.pairs.length;
        run.limitedRegions += analysis.regions.filter(({ isLimited }) => isLimited).length;
        const rule = new RegionsLeftOut(this.#topology, analysis.pairs, analysis.regions, this.#budget.pulse);
        if (n === 1) this.#refuseRounded(rule);
        x = await this.#step(await sceneOfSteps(), from.x, this.#aim(from.x, analysis), rule, n);
      }
    } catch (thrown) {
      run.ended = whyGivenUp(thrown);
    }
    return { ...run, best: this.#gains.best?.x ?? this.#start, leftOutVertices: leftOut.size };
  }

  async #test(x: Positions, checkpoint?: () => void): Promise<StateFindings> {
    return this.#tools.testState(this.#problem.mesh, x, { ...this.#rules, checkpoint });
  }

  /** Refuses a start that the engine's numbers do not keep apart. @throws TOLERANCE_TOO_SMALL, Interrupted */
  #refuseRounded(excluded: RegionsLeftOut | undefined): void {
    const rules = { ...this.#rules, maxPairs: NAMED, excluded, checkpoint: this.#budget.pulse };
    refuseRounded(this.#problem.mesh, this.#frame, this.#problem.positions, this.#start, rules);
  }

  /** If time ends before the contours of the start are found, the start is the answer, and no contour is decided. */
  #beginFirst(at: Float64Array, findings: StateFindings): { analysis: Analysis; ended: Ended | undefined } {
    try {
      return { analysis: this.#beginAnalysis(at, findings, 1), ended: undefined };
    } catch (thrown) {
      if (!(thrown instanceof Interrupted)) throw thrown;
      const none = { contours: [], decisions: new Map(), regions: [], shortened: [] };
      return { analysis: { at, findings, pairs: findings.intersections, ...none }, ended: thrown.why };
    }
  }

  /** Returns the contours of a state, before any decision about them. @throws Interrupted */
  #beginAnalysis(at: Float64Array, findings: StateFindings, n: number): Analysis {
    const { pulse } = this.#budget;
    const { pierces, pairs } = readPierces(this.#topology, this.#ids, at, findings, pulse);
    const contours = findContours(this.#topology, pierces, pulse);
    if (n === 1) refuseUnknownContours(this.#problem.options, contours.length);
    return { at, findings, pairs, contours, decisions: new Map(), regions: [], shortened: [] };
  }

  /** Decides sides and finds regions. @throws Interrupted; the analysis then contains the decisions made so far */
  #analyse({ at, contours, decisions, regions, shortened }: Analysis, n: number): void {
    const [topology, { pulse }] = [this.#topology, this.#budget];
    const guidance = n === 1 ? this.#guidance : { ...this.#guidance, turned: new Set<number>() };
    const tools = { topology, x: at, edge: this.#problem.measures.typicalEdge, rings: this.#gains.rings, pulse };
    for (const crossing of groupCrossings(topology, contours, pulse)) {
      pulse();
      for (const [c, decision] of decideSides(topology, at, contours, crossing, guidance, pulse)) {
        if (isShortened(decision, this.#gains.strategy)) shortened.push(contours[c]!);
        else regions.push(...regionsOf(tools, contours, c, crossing, decision));
        const { patches: _, ...kept } = decision;
        decisions.set(c, kept);
      }
    }
    for (const { contour, role, right, vertices } of regions) {
      const { isTurned, isKept } = decisions.get(contour)!;
      if (!isTurned && !isKept) continue;
      const [sheet, other] = [role, 1 - role].map((of) => sheetOf(topology, contours[contour]!, of as Role));
      this.#guidance.turnedRegions.add({ sheet: sheet!, other: other!, right, vertices });
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
    // Vertices that are not pushed keep their bits, which the conversion through doubles might round.
    const y = x.slice();
    for (const v of zone) {
      this.#pushed[v] = 1;
      if (mesh.inverseMasses[v] > 0) y.set(pushed.subarray(3 * v, 3 * v + 3), 3 * v);
    }
    return y;
  }

  async #step(
    scene: Scene,
    x: EnginePositions,
    y: EnginePositions,
    leftOut: RegionsLeftOut,
    n: number,
  ): Promise<EnginePositions> {
    const { positions } = await scene.resolve({
      x,
      y,
      excluded: leftOut,
      ...this.#budget.interrupts(),
      ...this.#path.recorder(x, leftOut, n),
    });
    return positions.slice();
  }

  /**
   * Pulls back the free state or, if there is none, the best state, for which exactly its intersecting pairs are left
   * out.
   */
  async #pullBack({ free, best, first }: Pick<Pushed, 'free' | 'best' | 'first'>): Promise<Pulled> {
    if (!free) this.#path.forget();
    const { best: tested } = this.#gains;
    // If nothing was gained, the answer is the start; if no time is left, it is the best state without a pull-back.
    if (!free && (best === this.#start || !tested)) return { x: undefined, ended: undefined };
    // If the pull-back ends with more pierces than the best state, the best state is the answer, and may have to be
    // tested as well.
    if (!free && !this.#knownOf(this.#toCaller(best), first)) this.#budget.keepBack(2);
    const over = free ? undefined : this.#budget.whyOver();
    if (over) return { x: undefined, ended: over };
    const x = free ?? best;
    this.#tell('PULLING_BACK', this.#told);
    let leftOut: RegionsLeftOut | undefined;
    try {
      const { pulse } = this.#budget;
      if (!free) leftOut = new RegionsLeftOut(this.#topology, tested!.findings.intersections, [], pulse);
    } catch (thrown) {
      return { x: undefined, ended: whyGivenUp(thrown) };
    }
    const { mesh, parameters } = this.#problem;
    const tools = {
      ...{ engine: this.#tools.engine, mesh, parameters, budget: this.#budget },
      units: { scale: this.#frame.scale, floor: this.#floor },
      isPushed: (v: number) => this.#isPushed(v),
    };
    return pullBack(tools, x, this.#start, leftOut, this.#path.recorder(x, leftOut, free ? 0 : tested!.iteration));
  }

  /** Whether no vertex is farther from its start than maxDisplacement, in the numbers that are sent. */
  #isNear(sent: Positions): boolean {
    const { options, positions } = this.#problem;
    const { maxDisplacement } = options;
    return maxDisplacement === undefined || measureMoved(sent, positions, () => true).max <= maxDisplacement;
  }

  #tell(phase: UntanglePhase, told: Told): void {
    this.#tools.onProgress?.({ phase, ...told });
  }

  /** Returns the findings of an earlier test of these very numbers; undefined = they have not been tested. */
  #knownOf(sent: Positions, first: Analysis): StateFindings | undefined {
    return [first, this.#gains.best].find((tested) => tested && isEqual(sent, tested.at))?.findings;
  }

  /**
   * Returns the answer: the pulled-back state if it has no more pierces than the best state, otherwise the best state,
   * or the start if nothing was gained. An exact test of the numbers that are sent decides; no state is tested twice.
   */
  async #answer(found: Pushed, pulled: EnginePositions | undefined): Promise<UntangleAnswer> {
    const { mesh, positions } = this.#problem;
    this.#tell('CHECKING_ANSWER', this.#told);
    const { first } = found;
    const before = first.findings.intersectionCount;
    const fewest = this.#gains.best?.findings.intersectionCount ?? before;
    let best: { positions: Positions; findings: StateFindings; engine?: EnginePositions } | undefined;
    for (const engine of new Set([pulled, found.free, found.best])) {
      if (!engine) continue;
      const sent = this.#toCaller(engine);
      if (!this.#isNear(sent)) continue;
      const findings = this.#knownOf(sent, first) ?? (await this.#test(sent, this.#tools.checkpoints?.answer));
      if (!best || findings.intersectionCount < best.findings.intersectionCount)
        best = { positions: sent, findings, engine };
      if (findings.intersectionCount <= fewest) break;
    }
    // If nothing was gained, the answer is the start itself.
    if (!best || (best.findings.intersectionCount > 0 && best.findings.intersectionCount >= before))
      best = { positions: positions.slice(), findings: first.findings };
    // The pieces of the pull-back, and those that led to its beginning, belong to the path if they lead to the answer.
    if (best.engine && best.engine === pulled) this.#path.keep();
    const { findings, positions: answer } = best;
    const after = findings.intersectionCount;
    const status: UntangleStatus = after === 0 ? 'FREE' : after < before ? 'PARTIAL' : 'UNRESOLVED';
    // No iteration follows a free state. If it is too far away even after the pull-back, nothing more is gained.
    const ended = found.ended ?? (found.free && after > 0 ? 'NO_PROGRESS' : undefined);
    const report: UntangleReport = {
      status,
      piercesBefore: before,
      piercesAfter: after,
      piercesByIteration: found.counts,
      contours: describeContours(this.#topology, first.at, first),
      regions: measureMoved(answer, positions, (v) => this.#isPushed(v)),
      outside: measureMoved(answer, positions, (v) => !this.#isPushed(v)),
      ...measureStretch(mesh, answer, positions),
      leftOutPierces: found.leftOutPierces,
      leftOutVertices: found.leftOutVertices,
      limitedRegions: found.limitedRegions,
      pushingEngine: found.pushingEngine,
      ...(ended ? { ended } : {}),
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

/** @param findings of the state that was analysed @param iteration that begins there */
function toldOf({ contours, regions }: Analysis, { intersectionCount }: StateFindings, iteration: number): Told {
  const regionVertices = regions.reduce((sum, { vertices }) => sum + vertices.length, 0);
  return { iteration, pierces: intersectionCount, contours: contours.length, regionVertices };
}

/** Returns the number of pierces of contours whose side is a guess. */
function guessedPierces({ contours, decisions }: Analysis): number {
  let sum = 0;
  for (const [c, decision] of decisions) if (isGuess(decision)) sum += contours[c]!.pierces.length;
  return sum;
}

/** @throws TOO_LARGE */
function refuseTooMany(count: number): never {
  throw new IntersticeError(
    'TOO_LARGE',
    `${count} pairs of elements intersect in the start; at most ${MOST_PAIRS} can be untangled.`,
    { hint: 'Check that mesh and positions belong together.' },
  );
}
