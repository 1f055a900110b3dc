import type { StateListener } from '../contract/call-context.js';
import type { Positions } from '../contract/mesh.js';
import { hasOnlyFinite } from '../mesh/positions.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { CoordinateFrame, StateToMap } from '../solver/frame.js';
import type { EnginePositions } from '../solver/types.js';
import type { PairRules, PathFindings } from '../verify/types.js';
import { isCheckStopped } from './deadline.js';
import type { Problem } from './finding.js';
import { NAMED_PAIRS, type Verifier } from './verifier.js';

export interface TrailOptions {
  readonly mesh: CollisionMesh;
  readonly frame: CoordinateFrame;
  readonly images: Omit<StateToMap, 'engine'>;
  readonly rules: PairRules;
  readonly verifier: Verifier;
  /** which pairs are tested on every piece of the path; undefined = none */
  readonly scope: 'all' | 'codimensional' | undefined;
  /** every state in the answer's scalar, start first, which keeps its own if that is wider; not written to afterwards */
  readonly onState: StateListener | undefined;
}

/** A state that can be answered. */
export interface Candidate {
  readonly positions: Positions;
  readonly engine: EnginePositions;
  /** its place in the path */
  readonly at: number;
}

/** How many accepted states are kept to fall back to: a finding is a fault of the service, and the last states before it
 *  are the likely good ones; more would only cost memory (12 bytes a vertex each). */
const KEPT_STATES = 4;

/**
 * Follows the path of one resolve: tests each piece as it is produced, passes the states on, and keeps the last few.
 *
 * Pieces are tested between the states as a caller would see them, in the answer's scalar: that is the path that the
 * caller is told of (a trace holds these very numbers), and un-centring may have rounded them.
 */
export class StateTrail {
  private readonly kept: EnginePositions[] = [];
  /** the start or the newest of those kept */
  private lastEngine: EnginePositions;
  /** the last state as the caller sees it; kept up only where something needs it */
  private last: Positions;
  /** the state that the path begins with, as it was told; undefined where nobody listens */
  private first: Positions | undefined;
  private accepted = 0;
  private found: Problem | undefined;
  private isStopped = false;

  constructor(private readonly options: TrailOptions) {
    this.lastEngine = options.images.startEngine;
    // The path begins at the caller's own start, whose scalar may be wider than the answer's.
    this.last = options.images.start;
    if (!options.onState) return;
    // A start in doubles stands for itself: rounded to a narrower answer it would be another state, and the piece from the
    // one to the other would be missing from the path that is told.
    const { start, startEngine } = options.images;
    this.first = start instanceof Float64Array ? start : this.map(startEngine);
    options.onState(this.first, 0);
  }

  /** The first piece that failed; no state is accepted after it. */
  get problem(): Problem | undefined {
    return this.found;
  }

  /** The test of a piece was stopped on the way (the caller has gone, the budget is spent): no state is accepted after it. */
  get wasStopped(): boolean {
    return this.isStopped;
  }

  get statesAccepted(): number {
    return this.accepted;
  }

  /** @param x the next state; copied */
  accept(x: EnginePositions): void {
    if (this.found || this.isStopped) return;
    if (!hasOnlyFinite(x)) {
      this.found = {
        kind: 'NOT_FINITE',
        message: 'the engine produced a coordinate that is not finite',
        statesAccepted: this.accepted,
        after: x.slice(),
      };
      return;
    }
    const { scope, onState } = this.options;
    if (scope !== undefined || onState !== undefined) {
      const state = this.map(x);
      if (!this.testPiece(state)) return;
      this.last = state;
      onState?.(state, this.accepted + 1);
    }
    this.accepted++;
    const room = this.kept.length < KEPT_STATES ? new Float32Array(x.length) : this.kept.shift()!;
    room.set(x);
    this.kept.push(room);
    this.lastEngine = room;
  }

  /** The engine's last word: one more state, unless it is the one it reported last. */
  finish(x: EnginePositions): void {
    if (!isEqual(x, this.lastEngine)) this.accept(x);
  }

  /** What can be answered, best first: the accepted states from the newest, then the start; in the answer's scalar. */
  *candidates(): Generator<Candidate> {
    for (let back = 0; back < this.kept.length; back++) {
      const engine = this.kept[this.kept.length - 1 - back]!;
      yield { positions: this.map(engine), engine, at: this.accepted - back };
    }
    yield this.startCandidate();
  }

  /** The last of the candidates, which was tested before anything moved. */
  startCandidate(): Candidate {
    const engine = this.options.images.startEngine;
    const positions = this.map(engine);
    // Rounded to a narrower scalar, the start is a state of its own, one piece away.
    return { positions, engine, at: this.first && !isEqual(positions, this.first) ? 1 : 0 };
  }

  isStart({ engine }: Candidate): boolean {
    return engine === this.options.images.startEngine;
  }

  /** Ends the path at the answer: takes back what was told after it. */
  endAt({ positions, engine, at }: Candidate): void {
    const wasToldLast = engine === this.lastEngine && at === this.accepted;
    if (!wasToldLast) this.options.onState?.((at === 0 && this.first) || positions, at);
  }

  private map(engine: EnginePositions): Positions {
    return this.options.frame.toCaller({ ...this.options.images, engine });
  }

  private testPiece(state: Positions): boolean {
    const { scope } = this.options;
    if (scope === undefined) return true;
    const path = this.findMeetings(state, scope);
    if (!path || path.pathFree) return path !== undefined;
    this.found = {
      kind: 'PATH',
      message: `${path.collisionCount} pairs may meet on piece ${this.accepted + 1} of the path`,
      statesAccepted: this.accepted,
      // The last may be the start, which the session's next answer is written over.
      before: this.last.slice(),
      after: state,
      path,
    };
    return false;
  }

  /** Between the last state and this one; undefined = it was stopped. An engine in the middle of its work is not the place
   *  to throw: it is told to stop, as for a problem. */
  private findMeetings(state: Positions, scope: 'all' | 'codimensional'): PathFindings | undefined {
    const { mesh, rules, verifier } = this.options;
    try {
      return verifier.testPath(mesh, this.last, state, { ...rules, maxPairs: NAMED_PAIRS }, scope);
    } catch (thrown) {
      if (!isCheckStopped(thrown)) throw thrown;
      this.isStopped = true;
      return undefined;
    }
  }
}

/** Equal as numbers, coordinate by coordinate; the scalars may differ. */
export function isEqual(a: Positions, b: Positions): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
