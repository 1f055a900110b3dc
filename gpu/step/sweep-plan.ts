import { CONTACTS_PER_VERTEX } from '../../src/solver/constants.js';
import { WORKGROUP_SIZE } from '../device/dispatch.js';
import { MOST_ROUNDS, PHASE, type Phase } from '../kernels/constants.js';
import type { SweepWays } from '../proof/sweeps-proof.js';
import type { ControlBlock } from './answer.js';
import type { WideRounds } from './recorder.js';
import { ROUND_ROWS } from './request.js';

/**
 * A first sweep is expected to behave like the stacks of the example `layers`: half of the candidates become contacts,
 * but at most 9 for 2 vertices (each has at most CONTACTS_PER_VERTEX, and some neighbours have fewer), in 90 rounds
 * whose lengths decrease evenly from twice the mean.
 */
const CONTACTS_PER_CANDIDATE = 1 / 2;
const CONTACTS_OF_VERTEX = 9 / 2;
const EXPECTED_ROUNDS = 90;

/**
 * Colours of more than ROUND_ROWS contacts in the first step of the pull-back. It is expected to be like the stacks of
 * `layers`: so many vertices have CONTACTS_PER_VERTEX contacts that so many colours are of about the same size, and a few
 * others are smaller. Rounds that are recorded in vain are dispatches of every sweep.
 */
const longColoursOf = (contacts: number): number =>
  contacts > CONTACTS_PER_VERTEX * ROUND_ROWS ? CONTACTS_PER_VERTEX + 4 : 0;

/** Contacts of such a sweep with this many rounds of more than ROUND_ROWS contacts. */
const contactsWith = (rounds: number): number => (EXPECTED_ROUNDS * ROUND_ROWS) / (2 * (1 - rounds / EXPECTED_ROUNDS));

/** The inverse: rounds of more than ROUND_ROWS contacts in a sweep of this many. */
const longRoundsOf = (contacts: number): number =>
  Math.max(0, Math.ceil(EXPECTED_ROUNDS * (1 - (EXPECTED_ROUNDS * ROUND_ROWS) / (2 * contacts))));

/**
 * A whole dispatch of a round has one thread per this many contacts of the sweep, within limits on the number of
 * workgroups: each of the first rounds has about one contact in eight. A thread sweeps several if a round has more, and
 * workgroups without contacts cost next to nothing.
 */
const CONTACTS_PER_THREAD = 8;
const LEAST_GROUPS = 16;
const MOST_GROUPS = 1024;

/** Factor on the rounds of the last step, for new contacts. */
const SPARE = 1.125;

/**
 * Number of ends of acting edges and contacts up to which one workgroup makes sweeps of the pull-back with the kernels
 * after each sweep. They belong to about a quarter as many vertices, because edges near their limits are adjacent; each
 * of 1,024 threads takes four of them.
 */
const FEW_ENDS = 16_384;

/**
 * Number of acting edges up to which one workgroup sweeps them: by the model of a graphics card
 * (bench/launches/model.ts) its turns over them take about as long as the whole dispatches that it replaces.
 */
const FEW_EDGES = 12_288;

/**
 * Edges that act in the first sweeps of the pull-back, per edge that the last step of Algorithm 1 has swept: the limits
 * of both are about the same, and edges near theirs count as acting.
 */
const ACTING_PER_SWEPT = 4;

/** Acting edges up to which one workgroup sweeps the first step of the pull-back: some thirty turns of a pass. */
const FEW_ACTING = 32_768;

/** Requests that do not list the edges of their first step, because many acted in that of an earlier one. */
const UNTRIED_REQUESTS = 8;

/**
 * Candidates up to which one workgroup selects the contacts: its 1,024 threads need two turns, each of which takes
 * about as long as the nine dispatches that it replaces, without the gaps between them. A step with more candidates
 * pauses; to make that rare, the previous step must have had at most half as many.
 */
const FEW_CANDIDATES = 2048;

/** The largest number of candidates that a parameter states. */
const ALL = 0xffffffff;

/** What the first step of a phase needed. */
interface Beginning {
  readonly rounds: number;
  readonly ordering: number;
  readonly hasFewCandidates: boolean;
}

const NO_ROUNDS = { rounds: 0, ordering: 0 };

/**
 * Decides which parts of the sweeps of the next steps are recorded as whole dispatches: as many as the last step
 * needed, and in the first step of a phase as many as in that of the last request that had it. One workgroup does the
 * rest, to the same bytes; a step for which that would take long pauses before its sweeps.
 */
export class SweepPlan {
  /** largest number of contacts that a sweep is expected to have, however many candidates there are */
  readonly #mostContacts: number;
  readonly #ways: Pick<SweepWays, 'rounds' | 'lists'>;
  readonly #canSelectAlone: boolean;
  /** rounds of whole dispatches in a sweep over contacts */
  rounds = 0;
  /**
   * the same where their order is found: in Algorithm 1 that is the first sweep of a step, in the pull-back a colouring
   * before the sweeps
   */
  #ordering = 0;
  /** contacts for which they are recorded */
  #contacts = 0;
  /** whether more edges of a colour act than one workgroup should sweep */
  hasDenseEdges = true;
  /** whether few edges act in the sweeps of Algorithm 1 */
  hasFewEdges = true;
  /** whether few vertices take part in the sweeps of the pull-back that do not visit all edges */
  hasFewEnds = false;
  /** whether one workgroup selects the contacts of a step */
  hasFewCandidates = false;
  /** by phase: the first step of the last request that had it */
  readonly #begun = new Map<Phase, Beginning>();
  #phase: Phase = PHASE.ADVANCE;
  /** whether few edges acted in the first step of the last request */
  #firstHasFewEdges = true;
  /** requests since one tried lists of edges in its first step */
  #untried = 0;
  /** whether no step of the phase was observed */
  #isFirst = false;
  /** whether no step of the request was */
  #isFirstOfAll = false;
  /** candidates of the step that has paused and is not done */
  #paused = 0;
  /** needs of the last step that had paused */
  #known = { candidates: 0, rounds: 0 };

  /**
   * @param ways variants that the device may use (gpu/proof/sweeps-proof.ts)
   * @param canSelectAlone whether it has the kernel that selects contacts in one workgroup
   */
  constructor(
    vertexCount: number,
    ways: Pick<SweepWays, 'rounds' | 'lists'> = { rounds: true, lists: true },
    canSelectAlone = false,
  ) {
    this.#ways = ways;
    this.#canSelectAlone = canSelectAlone;
    this.#mostContacts = CONTACTS_OF_VERTEX * vertexCount;
  }

  /** The rounds that are recorded. */
  get wide(): WideRounds {
    const groups = Math.ceil(this.#contacts / (CONTACTS_PER_THREAD * WORKGROUP_SIZE));
    return {
      rounds: Math.min(MOST_ROUNDS, this.rounds),
      ordering: Math.min(MOST_ROUNDS, this.#ordering),
      threads: WORKGROUP_SIZE * Math.max(LEAST_GROUPS, Math.min(MOST_GROUPS, groups)),
    };
  }

  /** Candidates beyond which a step pauses. */
  get covered(): number {
    return this.hasFewCandidates ? Math.min(FEW_CANDIDATES, this.#sweepable) : this.#sweepable;
  }

  /** Candidates for which the sweeps, as they are recorded, do not take long. */
  get #sweepable(): number {
    const { candidates, rounds } = this.#known;
    const known = this.#ordering >= rounds ? SPARE * candidates : 0;
    const contacts = this.#ordering < EXPECTED_ROUNDS ? contactsWith(this.#ordering) : ALL;
    if (!this.#ways.rounds || this.#mostContacts <= contacts) return ALL;
    return Math.min(ALL, Math.ceil(Math.max(contacts / CONTACTS_PER_CANDIDATE, known, this.#paused)));
  }

  /** Begins a request. */
  begin(): void {
    this.#enter(PHASE.ADVANCE);
    this.#isFirstOfAll = true;
    // Only lists show how many edges act, so a request tries them again from time to time.
    this.#untried = this.#firstHasFewEdges ? 0 : this.#untried + 1;
    if (this.#untried > UNTRIED_REQUESTS) this.#untried = 0;
    this.hasFewEdges = this.#untried === 0;
    this.#paused = 0;
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#isFirst = true;
    const begun = this.#begun.get(phase);
    this.hasFewCandidates = begun?.hasFewCandidates ?? false;
    // Phases of the pull-back follow others of the same request.
    const before = phase === PHASE.ADVANCE ? NO_ROUNDS : { rounds: this.rounds, ordering: this.#ordering };
    const { rounds, ordering } = begun ?? before;
    this.rounds = rounds;
    this.#ordering = ordering;
  }

  /**
   * Begins a phase of the pull-back. Its first step is expected to be like that of the last request, and what that does
   * not show is estimated; later steps follow the previous one.
   *
   * @param edgeCount constrained edges of the mesh
   * @param last status of Algorithm 1 if it has swept edges by lists; undefined = it is not known how many act
   */
  enterPullBack(
    phase: Exclude<Phase, 0>,
    edgeCount: number,
    last: Pick<ControlBlock, 'steps' | 'sweptEdges' | 'candidates'> | undefined,
  ): void {
    const before = this.#phase;
    this.#enter(phase);
    // About as many edges and contacts act as in the last step of the pull-back.
    if (before !== PHASE.ADVANCE) return;
    if (!this.#begun.has(phase) && this.#ways.rounds) this.rounds = longColoursOf(this.#contacts);
    if (!this.#ways.lists) return;
    const isTold = last !== undefined && last.steps > 0 && this.hasFewEdges;
    if (!isTold && edgeCount > FEW_ACTING) return;
    const acting = isTold ? Math.min(edgeCount, ACTING_PER_SWEPT * last.sweptEdges) : edgeCount;
    const contacts = isTold ? last.candidates : 0;
    this.hasDenseEdges = acting > FEW_ACTING;
    this.hasFewEnds = this.rounds === 0 && 2 * acting + 4 * contacts <= FEW_ENDS;
  }

  /** Notes that a step has paused because it had more candidates than were covered. */
  extend(candidates: number): void {
    this.#paused = candidates;
    this.hasFewCandidates = false;
    this.#contacts = Math.min(this.#mostContacts, CONTACTS_PER_CANDIDATE * candidates);
    this.#ordering = this.#ways.rounds ? longRoundsOf(this.#contacts) : 0;
    this.rounds = this.#isPull && this.#ways.rounds ? longColoursOf(this.#contacts) : this.#ordering;
  }

  get #isPull(): boolean {
    return this.#phase !== PHASE.ADVANCE;
  }

  /** Notes the status after steps that were done. @param done their number */
  observe(
    {
      wideRounds,
      wideOrdering,
      firstTail,
      candidates,
      mostContacts,
      sweptEnds,
      sweptEdges,
    }: Pick<
      ControlBlock,
      'wideRounds' | 'wideOrdering' | 'firstTail' | 'candidates' | 'mostContacts' | 'sweptEnds' | 'sweptEdges'
    >,
    done: number,
  ): void {
    this.#contacts = mostContacts;
    const isPull = this.#isPull;
    const ordering = isPull ? wideOrdering : wideRounds;
    this.rounds = this.#ways.rounds ? Math.ceil(SPARE * wideRounds) : 0;
    this.#ordering = this.#ways.rounds ? Math.ceil(SPARE * ordering) : 0;
    const isFew = (count: number): boolean => this.#canSelectAlone && count <= FEW_CANDIDATES / 2;
    this.hasFewCandidates = isFew(candidates);
    if (this.#isFirst) {
      // The status shows the candidates of the last of these steps, in the pull-back of the sweeps after it; those of a step
      // that has paused are known.
      const ofFirst = this.#paused > 0 ? this.#paused : done === 1 ? candidates : undefined;
      const before = this.#begun.get(this.#phase)?.hasFewCandidates ?? false;
      const hasFewCandidates = ofFirst === undefined ? before : isFew(ofFirst);
      this.#begun.set(this.#phase, { rounds: this.rounds, ordering: this.#ordering, hasFewCandidates });
    }
    if (this.#isFirstOfAll && this.hasFewEdges && !isPull) this.#firstHasFewEdges = sweptEdges <= FEW_EDGES;
    if (this.#paused > 0) this.#known = { candidates: this.#paused, rounds: ordering };
    this.#isFirst = false;
    this.#isFirstOfAll = false;
    this.#paused = 0;
    // If there are many, whole dispatches sweep them to the end of the request, and nothing shows how many act.
    if (sweptEdges > FEW_EDGES) this.hasFewEdges = false;
    if (!isPull || !this.#ways.lists) return;
    this.hasDenseEdges = firstTail > 0;
    this.hasFewEnds = !this.hasDenseEdges && this.rounds === 0 && sweptEnds <= FEW_ENDS;
  }
}
