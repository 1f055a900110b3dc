import type { MeshInput, Positions } from '../../src/mesh/types.js';
import type { ParametersInput } from '../../src/solver/types.js';
import type { Door, Reply, StepTerms } from './door.js';
import type { Surface } from './judge/surface.js';
import type { Random } from './scenes/random.js';
import { aimAt, drawMove, holdPins, type Move, pinSome, withParts } from './session-plan.js';

/** What a session needs of whoever judges. */
export interface Judge {
  /** @returns the positions of the answer; undefined where there is none, which is then a finding or rightly so */
  judge(surface: Surface, start: Positions, target: Positions, reply: Reply, requestId?: string): Positions | undefined;
  /** @returns true when there is nothing more to judge */
  isRefusedRightly(surface: Surface, start: Positions, reply: Reply | { refusal: object }): boolean;
  find(promise: string, details: string): void;
  nameRequest(): string;
}

export interface SessionTerms {
  readonly door: Door;
  readonly mesh: MeshInput;
  readonly surface: Surface;
  readonly start: Positions;
  readonly target: Positions;
  readonly parameters: ParametersInput;
  readonly frames: number;
  /** ms of performance.now() after which no further frame is begun */
  readonly until: number;
  readonly random: Random;
}

/** Earlier answers that a session may go back to. */
const KEPT_STATES = 5;

/** One session from its creation to its end; every answer is judged from the state before it. */
export async function trySession(terms: SessionTerms, judge: Judge): Promise<void> {
  const mesh = withParts(terms.mesh);
  const created = await terms.door.createSession(mesh, terms.start, terms.parameters);
  if ('refusal' in created) {
    judge.isRefusedRightly(terms.surface, terms.start, created);
    return;
  }
  const session = new RunningSession(created.id, mesh, terms, judge);
  for (let frame = 1; frame <= terms.frames && (frame === 1 || performance.now() < terms.until); frame++) {
    if (!(await session.go(frame, drawMove(frame, terms.random)))) break;
  }
  await terms.door.deleteSession(created.id);
}

/** What was sent last, to be sent again. */
interface Sent {
  readonly frame: bigint;
  readonly target: Positions;
  readonly terms: StepTerms;
  readonly answer: Positions;
}

class RunningSession {
  /** the last answer */
  #x: Positions;
  #lastTarget: Positions;
  #surface: Surface;
  #sent: Sent | undefined;
  readonly #earlier: Positions[] = [];

  constructor(
    private readonly id: string,
    private readonly mesh: MeshInput,
    private readonly terms: SessionTerms,
    private readonly judge: Judge,
  ) {
    this.#x = terms.start;
    this.#lastTarget = terms.start;
    this.#surface = terms.surface;
  }

  /** @returns false when the session is of no more use */
  async go(frame: number, move: Move): Promise<boolean> {
    const { start, target, random, surface } = this.terms;
    const aim = this.#hold(aimAt(start, target, frame, random));
    switch (move) {
      case 'DRIFT':
        return this.#step(frame, aim, {});
      case 'DRIFT_FAST':
        return this.#stepFast(frame, aim);
      case 'REST':
        return this.#step(frame, this.#lastTarget, { parts: [] });
      case 'STAY':
        return this.#step(frame, this.#x.slice() as Positions, {});
      case 'PARTS':
        return this.#stepParts(frame, aim);
      case 'BACK':
        return this.#step(frame, aim, { start: random.pick(this.#earlier) });
      case 'PIN': {
        const kinematic = pinSome(surface, random);
        this.#surface = { ...surface, kinematic };
        return this.#step(frame, this.#hold(aim), { kinematic });
      }
      case 'AGAIN':
        return this.#again();
    }
  }

  #hold(y: Positions): Positions {
    return holdPins(y, this.#x, this.#surface.kinematic, this.terms.surface.kinematic);
  }

  async #step(frame: number, target: Positions, terms: StepTerms): Promise<boolean> {
    const { judge } = this;
    const requestId = judge.nameRequest();
    const reply = await this.terms.door.step(this.id, BigInt(frame), target, terms, { requestId });
    const from = terms.start ?? this.#x;
    // Vertices that are let go may leave a state behind in which a pair intersects that nobody promised before.
    const isNewStart = terms.start !== undefined || terms.kinematic !== undefined;
    if (isNewStart && 'refusal' in reply && judge.isRefusedRightly(this.#surface, from, reply)) return false;
    return this.#accept(frame, from, target, terms, reply, requestId);
  }

  async #stepFast(frame: number, target: Positions): Promise<boolean> {
    const reply = await this.terms.door.stepFast(this.id, BigInt(frame), target);
    return this.#accept(frame, this.#x, target, {}, reply);
  }

  #stepParts(frame: number, aim: Positions): Promise<boolean> {
    const { random } = this.terms;
    const { parts = [] } = this.mesh;
    const chosen = parts.filter(() => random.next() < 0.5);
    const whole = this.#lastTarget.slice() as Positions;
    const pieces = chosen.map(({ name, firstVertex, vertexCount }) => {
      const piece = aim.slice(3 * firstVertex, 3 * (firstVertex + vertexCount)) as Positions;
      whole.set(piece, 3 * firstVertex);
      return { part: name, target: piece };
    });
    return this.#step(frame, whole, { parts: pieces });
  }

  #accept(
    frame: number,
    from: Positions,
    target: Positions,
    terms: StepTerms,
    reply: Reply,
    requestId?: string,
  ): boolean {
    const next = this.judge.judge(this.#surface, from, target, reply, requestId);
    if (next === undefined) return false;
    this.#x = next;
    this.#lastTarget = target;
    this.#sent = { frame: BigInt(frame), target, terms, answer: next };
    if (this.#earlier.push(next) > KEPT_STATES) this.#earlier.shift();
    return true;
  }

  /** The stored bytes for the same payload, a conflict for another one, out of order for an older frame. */
  async #again(): Promise<boolean> {
    if (!this.#sent) return true;
    const { frame, target, terms, answer } = this.#sent;
    const { door } = this.terms;
    const reply = await door.step(this.id, frame, target, terms);
    if ('refusal' in reply) this.judge.find('an answered frame sent again is answered', reply.refusal.message);
    else if (!reply.answer.positions.every((p, i) => p === answer[i])) {
      this.judge.find('an answered frame sent again has the same bytes', `frame ${frame}`);
    }
    const other = target.map((p, i) => (i === 0 ? p + 1 : p)) as Positions;
    await this.#expect('FRAME_CONFLICT', await door.step(this.id, frame, other));
    await this.#expect('FRAME_OUT_OF_ORDER', await door.step(this.id, frame - 1n, target));
    return true;
  }

  async #expect(code: string, reply: Reply): Promise<void> {
    const told = 'refusal' in reply ? reply.refusal.code : 'an answer';
    if (told !== code) this.judge.find('frames are counted', `${told}, not ${code}`);
  }
}
