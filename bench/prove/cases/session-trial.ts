import { setTimeout as wait } from 'node:timers/promises';
import type { MeshInput, Positions } from '../../../src/contract/mesh.js';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import type { Door, Opened, Reply, StepTerms } from '../doors/door.js';
import { ExcludedMemory } from '../judge/excluded.js';
import { isAsNearAsCanBe, judgeNearness, type NearAnswer } from '../judge/nearness-judge.js';
import type { Surface } from '../judge/surface.js';
import type { Random } from '../scenes/random.js';
import { aimAt, changePlaces, drawMove, holdPins, type Move, pinSome } from './session-plan.js';
import { badSteps, hangUp } from './session-trouble.js';

/** One step of a session as it was sent, for the judge of its answer. */
export interface JudgedStep {
  readonly surface: Surface;
  readonly start: Positions;
  readonly target: Positions;
  readonly reply: Reply;
  /** the service may have written the path under one of these names */
  readonly requestIds?: readonly string[];
  readonly memory?: ExcludedMemory;
}

/** The functions of its judge that a session needs. */
export interface Judge {
  /** @returns the positions of the answer; undefined if there is none, rightly or as a finding */
  judge(step: JudgedStep): Positions | undefined;
  /** @returns true if there is nothing more to judge */
  /** @param opening the state with which a session was opened, if that is not the start */
  isRefusedRightly(
    surface: Surface,
    start: Positions,
    reply: Reply | { refusal: object },
    target?: Positions,
    opening?: Positions,
  ): boolean;
  find(promise: string, details: string): void;
  /** counts how something ended */
  end(how: string): void;
  nameRequest(): string;
}

export interface SessionTerms {
  readonly door: Door;
  /** in parts, so that there are part targets to send */
  readonly mesh: MeshInput;
  readonly surface: Surface;
  readonly start: Positions;
  readonly target: Positions;
  /** of {@link ProveScene.ways} */
  readonly ways: Uint8Array | undefined;
  /** @param opening the state with which a session is opened: defaults and what is a share of them follow from it */
  readonly parametersFrom: (opening: Positions) => ParametersInput;
  readonly frames: number;
  /** ms of performance.now() after which no further frame is begun */
  readonly until: number;
  readonly random: Random;
  /** whether there is a disturbance in every other frame */
  readonly isRough: boolean;
  /** longest time of a move WAIT, ms; 0 = sessions neither expire nor are parked here */
  readonly longestWait: number;
}

/** ms */
const RETRY_FOR = 240_000;
const RETRY_MS = 20;
/** Number of earlier answers to which a session may return. */
const KEPT_STATES = 5;

/** One session from its creation to its end; every answer is judged from the state before it. */
export async function trySession(terms: SessionTerms, judge: Judge): Promise<void> {
  const created = await openSession(terms, terms.start);
  if ('refusal' in created) {
    judge.isRefusedRightly(terms.surface, terms.start, created);
    return;
  }
  const session = new RunningSession(created.id, terms, judge);
  for (let frame = 1; frame <= terms.frames && (frame === 1 || performance.now() < terms.until); frame++) {
    if (!(await session.go(frame, drawMove(frame, terms.random, terms.isRough)))) break;
  }
  await session.close();
}

/** While all sessions compute, none can be parked for another: a step that is refused for that reason is sent again. */
async function openSession(
  { door, mesh, parametersFrom, longestWait }: SessionTerms,
  start: Positions,
): Promise<Opened> {
  const parameters = parametersFrom(start);
  const until = performance.now() + (longestWait > 0 ? RETRY_FOR : 0);
  for (;;) {
    const created = await door.createSession(mesh, start, parameters);
    if (!('refusal' in created && created.refusal.isRetryable) || performance.now() > until) return created;
    await wait(RETRY_MS);
  }
}

/** The last step, which may be sent again. */
interface Sent {
  readonly frame: bigint;
  readonly target: Positions;
  readonly terms: StepTerms;
  readonly answer: Positions;
}

class RunningSession {
  /** the last answer */
  #x: Positions;
  /** the state from which the service made the session */
  #opening: Positions;
  #lastTarget: Positions;
  #surface: Surface;
  #sent: Sent | undefined;
  /** of the last answer, if it is as near to its target as it can be */
  #near: NearAnswer | undefined;
  #id: string;
  /** the last frame that was accepted */
  #frame = 0n;
  /** approximate time of a step, ms */
  #usual = 20;
  readonly #earlier: Positions[] = [];
  readonly #memory = new ExcludedMemory();

  constructor(
    id: string,
    private readonly terms: SessionTerms,
    private readonly judge: Judge,
  ) {
    this.#id = id;
    this.#x = terms.start;
    this.#opening = terms.start;
    this.#lastTarget = terms.start;
    this.#surface = terms.surface;
  }

  async close(): Promise<void> {
    await this.terms.door.deleteSession(this.#id);
  }

  /** @returns false if the session cannot continue */
  async go(frame: number, move: Move): Promise<boolean> {
    const { random, surface } = this.terms;
    const aim = this.#hold(this.#aimAt(frame));
    switch (move) {
      case 'DRIFT':
        return this.#step(aim, {});
      case 'DRIFT_FAST':
        return this.#stepFast(aim);
      case 'REST':
        return this.#step(this.#lastTarget, { parts: [] });
      case 'STAY':
        return this.#stay();
      case 'PARTS':
        return this.#stepParts(aim);
      case 'BACK':
        return this.#earlier.length === 0 || this.#step(aim, { start: random.pick(this.#earlier) });
      case 'PIN': {
        const kinematic = pinSome(surface, random);
        return this.#step(this.#hold(aim, kinematic), { kinematic });
      }
      case 'AGAIN':
        return this.#again();
      case 'HANG_UP':
        return this.#hangUp(frame, aim);
      case 'REFUSED':
        return this.#beRefused(aim);
      case 'RENEW':
        await this.close();
        return this.#renew();
      case 'NARROW':
        return this.#step(aim instanceof Float64Array ? Float32Array.from(aim) : aim, {});
      case 'WAIT':
        await wait(random.between(0, this.terms.longestWait));
        return this.#stay();
    }
  }

  #aimAt(frame: number): Positions {
    const { start, target, ways, random } = this.terms;
    return ways ? changePlaces(start, target, ways, random) : aimAt(start, target, frame, random);
  }

  #hold(y: Positions, kinematic = this.#surface.kinematic): Positions {
    return holdPins(y, this.#x, kinematic, this.terms.surface.kinematic);
  }

  #stay(): Promise<boolean> {
    return this.#step(this.#x.slice() as Positions, {});
  }

  async #step(target: Positions, terms: StepTerms): Promise<boolean> {
    const requestId = this.judge.nameRequest();
    const frame = this.#frame + 1n;
    const before = performance.now();
    const reply = await this.terms.door.step(this.#id, frame, target, terms, { requestId });
    this.#usual = performance.now() - before;
    if (this.#hasExpired(reply)) return (await this.#renew()) && this.#stay();
    return this.#accept(frame, target, terms, reply, [requestId]);
  }

  async #stepFast(target: Positions): Promise<boolean> {
    const frame = this.#frame + 1n;
    const reply = await this.terms.door.stepFast(this.#id, frame, target);
    if (this.#hasExpired(reply)) return (await this.#renew()) && this.#stay();
    return this.#accept(frame, target, {}, reply);
  }

  #stepParts(aim: Positions): Promise<boolean> {
    const { random, mesh } = this.terms;
    const { parts = [] } = mesh;
    const chosen = parts.filter(() => random.next() < 0.5);
    if (chosen.length === 0) return this.#step(this.#lastTarget, { parts: [] });
    // A target composed of pieces in two scalars is float64.
    const isRestDouble = chosen.length < parts.length && this.#lastTarget instanceof Float64Array;
    const whole =
      isRestDouble || aim instanceof Float64Array ? Float64Array.from(this.#lastTarget) : Float32Array.from(aim);
    if (chosen.length < parts.length) whole.set(this.#lastTarget);
    const pieces = chosen.map(({ name, firstVertex, vertexCount }) => {
      const piece = aim.slice(3 * firstVertex, 3 * (firstVertex + vertexCount)) as Positions;
      whole.set(piece, 3 * firstVertex);
      return { part: name, target: piece };
    });
    return this.#step(whole, { parts: pieces });
  }

  /** Judges the reply to a step and continues from it. @returns false if the session cannot continue */
  #accept(
    frame: bigint,
    target: Positions,
    terms: StepTerms,
    reply: Reply,
    requestIds: readonly string[] = [],
  ): boolean {
    const judge = this.judge;
    const memory = this.#memory;
    // Pins apply from the step on that is accepted with them.
    const surface = terms.kinematic ? { ...this.#surface, kinematic: terms.kinematic } : this.#surface;
    const start = terms.start ?? this.#x;
    if ('refusal' in reply) {
      // A scalar that is too coarse for this place: nothing has changed, and the session continues.
      const isNarrowed = target instanceof Float32Array && start instanceof Float64Array;
      if (isNarrowed && reply.refusal.code === 'TOLERANCE_TOO_SMALL')
        return judge.isRefusedRightly(surface, start, reply, target, this.#opening);
      // The same happens to a state that has moved far away, and there the session ends.
      if (reply.refusal.code === 'TOLERANCE_TOO_SMALL') {
        judge.isRefusedRightly(surface, start, reply, target, this.#opening);
        return false;
      }
      // Vertices that become dynamic may leave a state in which a pair intersects that was not promised before.
      const isNewStart = terms.start !== undefined || terms.kinematic !== undefined;
      if (isNewStart && judge.isRefusedRightly(surface, start, reply, target, this.#opening)) return false;
    }
    // The service knows the exclusions behind its last answer, and none of another start.
    if (terms.start && !isSame(start, this.#x)) memory.forget();
    const next = judge.judge({ surface, start, target, reply, requestIds, memory });
    if (next === undefined || 'refusal' in reply) return false;
    const { report } = reply.answer;
    const isAgain = start === this.#x && terms.kinematic === undefined && isSame(target, this.#lastTarget);
    const answer = { report, excused: memory.excused };
    if (this.#near && isAgain) judgeNearness(this.#near, answer, (promise, details) => judge.find(promise, details));
    this.#near = isAsNearAsCanBe(surface, start, target, report) ? answer : undefined;
    this.#frame = frame;
    this.#x = next;
    this.#surface = surface;
    this.#lastTarget = target;
    this.#sent = { frame, target, terms, answer: next };
    if (this.#earlier.push(next) > KEPT_STATES) this.#earlier.shift();
    return true;
  }

  /** The stored bytes for the same payload, a conflict for another one, out of order for an older frame. */
  async #again(): Promise<boolean> {
    if (!this.#sent) return true;
    const { frame, target, terms, answer } = this.#sent;
    const { door } = this.terms;
    const reply = await door.step(this.#id, frame, target, terms);
    if (this.#hasExpired(reply)) return this.#renew();
    if ('refusal' in reply) this.judge.find('an answered frame sent again is answered', reply.refusal.message);
    else if (!isSame(reply.answer.positions, answer)) {
      this.judge.find('an answered frame sent again has the same bytes', `frame ${frame}`);
    }
    const other = target.map((p, i) => (i === 0 ? p + 1 : p)) as Positions;
    await this.#expect('frames are counted', 'FRAME_CONFLICT', await door.step(this.#id, frame, other));
    await this.#expect('frames are counted', 'FRAME_OUT_OF_ORDER', await door.step(this.#id, frame - 1n, target));
    return true;
  }

  /** A client that hangs up and sends the frame again gets one step from the last answer, with one of both payloads. */
  async #hangUp(step: number, aim: Positions): Promise<boolean> {
    const { door, random } = this.terms;
    const frame = this.#frame + 1n;
    const requestIds = [this.judge.nameRequest(), this.judge.nameRequest()];
    const other = random.next() < 0.5 ? undefined : this.#hold(this.#aimAt(2 * step));
    const result = await hangUp(door, this.#id, frame, [aim, other], random.between(0, this.#usual), requestIds);
    if (result === undefined) {
      this.judge.find('a frame that was hung up on is answered when it is sent again', `frame ${frame}`);
      return false;
    }
    if (this.#hasExpired(result.reply)) return this.#renew();
    const { target, reply } = result;
    return this.#accept(frame, target, {}, reply, requestIds) && this.#stay();
  }

  /** Wrong input is refused with its code and changes nothing: the next step starts from the last answer. */
  async #beRefused(aim: Positions): Promise<boolean> {
    const { door, random } = this.terms;
    const { target, terms, code, frame } = random.pick(badSteps(aim, this.#x, this.#frame + 1n));
    const reply = await door.step(this.#id, frame, target, terms);
    if (this.#hasExpired(reply)) return this.#renew();
    await this.#expect('wrong input is refused', code, reply);
    return this.#stay();
  }

  #hasExpired(reply: Reply): boolean {
    const { longestWait } = this.terms;
    const hasExpired = longestWait > 0 && 'refusal' in reply && reply.refusal.code === 'SESSION_NOT_FOUND';
    if (hasExpired) this.judge.end('SESSION_NOT_FOUND');
    return hasExpired;
  }

  /** Creates the session again like a client: from its own mesh and the last answer that arrived. */
  async #renew(): Promise<boolean> {
    const { surface } = this.terms;
    const created = await openSession(this.terms, this.#x);
    // The mesh is the initial one, pins included.
    this.#surface = surface;
    this.#lastTarget = this.#x;
    this.#sent = undefined;
    this.#near = undefined;
    this.#memory.forget();
    if ('refusal' in created) {
      this.judge.isRefusedRightly(surface, this.#x, created);
      return false;
    }
    this.#id = created.id;
    this.#opening = this.#x;
    return true;
  }

  async #expect(promise: string, code: string, reply: Reply): Promise<void> {
    // A session may expire between any two requests; the next step notices it, too, and creates it again.
    if (this.#hasExpired(reply)) return;
    const actual = 'refusal' in reply ? reply.refusal.code : 'an answer';
    if (actual !== code) this.judge.find(promise, `${actual}, not ${code}`);
  }
}

const isSame = (a: Positions, b: Positions): boolean => a.length === b.length && a.every((p, i) => p === b[i]);
