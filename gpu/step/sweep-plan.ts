import { WORKGROUP_SIZE } from '../device/dispatch.js';
import { MOST_ROUNDS } from '../kernels/constants.js';
import type { SweepWays } from '../proof/sweeps-proof.js';
import type { ControlBlock } from './answer.js';
import type { WideRounds } from './recorder.js';
import { ROUND_ROWS } from './request.js';

/**
 * Of a first sweep it is expected what the stacks of the example `layers` do: half of the candidates become contacts, but no more than 9 for
 * 2 vertices (each has CONTACTS_PER_VERTEX at most, and some neighbours less); 90 rounds, whose lengths fall evenly, the first twice the mean.
 */
const CONTACTS_PER_CANDIDATE = 1 / 2;
const CONTACTS_OF_VERTEX = 9 / 2;
const EXPECTED_ROUNDS = 90;

/** Contacts of such a sweep with so many rounds of more than ROUND_ROWS contacts. */
const contactsWith = (rounds: number): number => (EXPECTED_ROUNDS * ROUND_ROWS) / (2 * (1 - rounds / EXPECTED_ROUNDS));

/** The reverse: rounds of more than ROUND_ROWS contacts in a sweep of so many. */
const longRoundsOf = (contacts: number): number =>
  Math.max(0, Math.ceil(EXPECTED_ROUNDS * (1 - (EXPECTED_ROUNDS * ROUND_ROWS) / (2 * contacts))));

/**
 * A whole dispatch of a round has a thread for one of so many contacts of the sweep, at least and at most a number of workgroups: the first rounds
 * have about one contact in eight each. A thread takes several where a round has more, and workgroups without contacts cost next to nothing.
 */
const CONTACTS_PER_THREAD = 8;
const LEAST_GROUPS = 16;
const MOST_GROUPS = 1024;

/** Rounds beyond those of the last step, for contacts that come. */
const SPARE = 1.125;

/**
 * Vertices of acting edges and contacts, counted once for each, up to which one workgroup makes sweeps of the pull-back with what follows each: about a quarter
 * as many vertices, since edges near their limits lie side by side; 1,024 threads take four of them each.
 */
const FEW_ENDS = 16_384;

/**
 * Edges up to which one workgroup sweeps those that act: by the model of a graphics card (bench/launches/model.ts) its turns over them take about as long as the whole dispatches that
 * it saves.
 */
const FEW_EDGES = 12_288;

/**
 * Edges that act in the first sweeps of the pull-back, for each that the last step of Algorithm 1 has swept: the limits of both are about the same, and edges near theirs count
 * as acting.
 */
const ACTING_PER_SWEPT = 4;

/** Acting edges up to which one workgroup sweeps them in the first step of the pull-back, of which nothing else is known: some thirty turns of a pass. */
const FEW_ACTING = 32_768;

/** Requests whose first step takes whole dispatches for its edges, since in that of an earlier one many acted, before one tries lists again. */
const UNTRIED_REQUESTS = 8;

/**
 * Candidates from which one workgroup selects the contacts: with its 1,024 threads it takes two turns, each of which lasts about as long as the nine
 * dispatches that it takes the place of without what comes between them. A step with more pauses; so that this is rare, the step before has had half as many at most.
 */
const FEW_CANDIDATES = 2048;

/** The largest number of candidates that a parameter states. */
const ALL = 0xffffffff;

/**
 * Which parts of the sweeps of the next steps are recorded as whole dispatches: as many as the last step wanted, and in the first step of a request
 * as many as in that of the last one. What was not recorded one workgroup does, to the same bytes; a step that it would take long over pauses before
 * its sweeps.
 */
export class SweepPlan {
  /** contacts that a sweep is expected to have at most, whatever its candidates */
  readonly #mostContacts: number;
  readonly #ways: Pick<SweepWays, 'rounds' | 'lists'>;
  readonly #canSelectAlone: boolean;
  /** rounds of whole dispatches in a sweep over contacts */
  rounds = 0;
  /** contacts that they are recorded for */
  #contacts = 0;
  /** of the edges of a colour more act than one workgroup should take */
  hasDenseEdges = true;
  /** few edges act in the sweeps of Algorithm 1 */
  hasFewEdges = true;
  /** few vertices take part in the sweeps of the pull-back that do not look at all edges */
  hasFewEnds = false;
  /** one workgroup selects the contacts of a step */
  hasFewCandidates = false;
  /** rounds that the first step of the last request wanted, whether it had few candidates, and whether few edges acted in it */
  #first = 0;
  #firstHadFew = false;
  #firstHasFewEdges = true;
  /** requests since one tried lists of edges in its first step */
  #untried = 0;
  #isFirst = false;
  /** candidates of the step that has paused and is not done */
  #paused = 0;
  /** what the last step that had paused wanted */
  #known = { candidates: 0, rounds: 0 };

  /**
   * @param ways which the device may take (gpu/proof/sweeps-proof.ts)
   * @param canSelectAlone it has the kernel that selects contacts in one workgroup
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

  /** These rounds as they are recorded. */
  get wide(): WideRounds {
    const groups = Math.ceil(this.#contacts / (CONTACTS_PER_THREAD * WORKGROUP_SIZE));
    return {
      rounds: Math.min(MOST_ROUNDS, this.rounds),
      threads: WORKGROUP_SIZE * Math.max(LEAST_GROUPS, Math.min(MOST_GROUPS, groups)),
    };
  }

  /** Candidates beyond which a step pauses. */
  get covered(): number {
    return this.hasFewCandidates ? Math.min(FEW_CANDIDATES, this.#sweepable) : this.#sweepable;
  }

  /** Candidates that the sweeps as they are recorded do not take long over. */
  get #sweepable(): number {
    const { candidates, rounds } = this.#known;
    const known = this.rounds >= rounds ? SPARE * candidates : 0;
    const contacts = this.rounds < EXPECTED_ROUNDS ? contactsWith(this.rounds) : ALL;
    if (!this.#ways.rounds || this.#mostContacts <= contacts) return ALL;
    return Math.min(ALL, Math.ceil(Math.max(contacts / CONTACTS_PER_CANDIDATE, known, this.#paused)));
  }

  /** A request begins. */
  begin(): void {
    this.rounds = this.#first;
    // Only lists tell how many edges act: now and then a request tries them again.
    this.#untried = this.#firstHasFewEdges ? 0 : this.#untried + 1;
    if (this.#untried > UNTRIED_REQUESTS) this.#untried = 0;
    this.hasFewEdges = this.#untried === 0;
    this.hasFewCandidates = this.#firstHadFew;
    this.#isFirst = true;
    this.#paused = 0;
  }

  /**
   * The pull-back begins. What its first step sweeps is guessed; the others follow what the one before did.
   *
   * @param edgeCount constrained edges of the mesh
   * @param last status of Algorithm 1 where it has swept edges by lists; undefined = nothing tells how many act
   */
  enterPullBack(edgeCount: number, last: Pick<ControlBlock, 'steps' | 'sweptEdges' | 'candidates'> | undefined): void {
    if (!this.#ways.lists) return;
    const isTold = last !== undefined && last.steps > 0 && this.hasFewEdges;
    if (!isTold && edgeCount > FEW_ACTING) return;
    const acting = isTold ? Math.min(edgeCount, ACTING_PER_SWEPT * last.sweptEdges) : edgeCount;
    const contacts = isTold ? last.candidates : 0;
    this.hasDenseEdges = acting > FEW_ACTING;
    this.hasFewEnds = this.rounds === 0 && 2 * acting + 4 * contacts <= FEW_ENDS;
  }

  /** A step has paused, since it had more candidates than were covered. */
  extend(candidates: number): void {
    this.#paused = candidates;
    this.hasFewCandidates = false;
    this.#contacts = Math.min(this.#mostContacts, CONTACTS_PER_CANDIDATE * candidates);
    this.rounds = this.#ways.rounds ? longRoundsOf(this.#contacts) : 0;
  }

  /** Steps were done. @param isPull of the pull-back, which lists the edges that act */
  observe(
    {
      wideRounds,
      firstTail,
      candidates,
      mostContacts,
      sweptEnds,
      sweptEdges,
    }: Pick<ControlBlock, 'wideRounds' | 'firstTail' | 'candidates' | 'mostContacts' | 'sweptEnds' | 'sweptEdges'>,
    isPull: boolean,
  ): void {
    this.#contacts = mostContacts;
    this.rounds = this.#ways.rounds ? Math.ceil(SPARE * wideRounds) : 0;
    this.hasFewCandidates = this.#canSelectAlone && candidates <= FEW_CANDIDATES / 2;
    if (this.#isFirst) {
      this.#first = this.rounds;
      this.#firstHadFew = this.hasFewCandidates;
      if (this.hasFewEdges && !isPull) this.#firstHasFewEdges = sweptEdges <= FEW_EDGES;
    }
    if (this.#paused > 0) this.#known = { candidates: this.#paused, rounds: wideRounds };
    this.#isFirst = false;
    this.#paused = 0;
    // Where they are many, whole dispatches sweep them to the end of the request, and nothing tells how many act.
    if (sweptEdges > FEW_EDGES) this.hasFewEdges = false;
    if (!isPull || !this.#ways.lists) return;
    this.hasDenseEdges = firstTail > 0;
    this.hasFewEnds = !this.hasDenseEdges && this.rounds === 0 && sweptEnds <= FEW_ENDS;
  }
}
