import type { MeshInput, Positions } from '../../src/mesh/types.js';
import type { ParametersInput } from '../../src/solver/types.js';
import type { ProveCase } from './cases.js';
import type { Client, Refusal, Reply } from './client.js';
import { type Finding, judgeAnswer } from './judge/answer-judge.js';
import { expectReply } from './judge/expectation.js';
import type { Invariant } from './judge/invariants.js';
import { findCollisions } from './judge/path-judge.js';
import { findMeetings } from './judge/state-judge.js';
import { readSurface, type Surface } from './judge/surface.js';
import type { ProveScene } from './scenes/builder.js';
import { Random } from './scenes/random.js';
import { parametersOf, vary } from './scenes/variation.js';
import { takeTrace } from './trace-files.js';

export interface Outcome {
  readonly findings: readonly Finding[];
  /** how it ended: a status, or the code of a refusal that was right */
  readonly endings: Readonly<Record<string, number>>;
  readonly answers: number;
  readonly steps: number;
  readonly reused: number;
  /** linear pieces of paths that were judged */
  readonly pieces: number;
  /** how often the service's own check was compared with the judge */
  readonly checks: number;
}

export interface Bench {
  readonly client: Client;
  /** frames of a session case */
  readonly frames: number;
  /** ms of performance.now() after which no further frame is begun */
  readonly until: number;
  /** where the service writes the states of its paths */
  readonly traceFolder: string | undefined;
  /** asks for answers that the service has not looked at, so that the judge is alone */
  readonly isUnverified: boolean;
}

class Tally {
  readonly findings: Finding[] = [];
  readonly endings: Record<string, number> = {};
  answers = 0;
  steps = 0;
  reused = 0;
  pieces = 0;
  checks = 0;

  end(how: string): void {
    this.endings[how] = (this.endings[how] ?? 0) + 1;
  }

  find(promise: string, details: string): void {
    this.findings.push({ promise, details });
  }
}

/** Sends one case and judges everything that comes back. */
export async function tryCase(prove: ProveCase, scene: ProveScene, bench: Bench): Promise<Outcome> {
  const random = new Random(prove.seed ^ 0x5bd1e995);
  const { start, target } = vary(scene, prove.variation, random);
  const asked = parametersOf(prove.variation);
  const parameters: ParametersInput = bench.isUnverified ? { ...asked, verify: 'NONE' } : asked;
  const tally = new Tally();
  const trial = new Trial(prove, scene, bench, parameters, readSurface(scene.mesh), tally);
  if (prove.mode === 'RESOLVE') await trial.resolve(start, target);
  else await trial.session(start, target, random);
  return tally;
}

class Trial {
  readonly #mesh: MeshInput;
  readonly #invariants: readonly Invariant[];
  readonly #verify: 'STATE' | 'PATH' | 'NONE';
  readonly #rules: { readonly kinematicPairs: 'SKIP' | 'PROTECT' };
  #requests = 0;

  constructor(
    private readonly prove: ProveCase,
    scene: ProveScene,
    private readonly bench: Bench,
    private readonly parameters: ParametersInput,
    private readonly surface: Surface,
    private readonly tally: Tally,
  ) {
    this.#mesh = scene.mesh;
    this.#invariants = scene.invariants;
    this.#verify = (parameters.verify as 'PATH' | 'NONE' | undefined) ?? 'STATE';
    this.#rules = { kinematicPairs: parameters.kinematicPairs ?? 'SKIP' };
  }

  async resolve(start: Positions, target: Positions): Promise<void> {
    const requestId = this.#nameRequest();
    const reply = await this.bench.client.resolve(this.#mesh, start, target, this.parameters, { requestId });
    if (this.#isRefusedRightly(start, reply)) return;
    const answer = this.#judge(start, target, reply, requestId);
    // Where all vertices end in one point, or fly far, nearly every pair meets, and counting them takes minutes.
    const isCountable = ['NONE', 'SAME', 'NOISE'].includes(this.prove.variation.extreme);
    if (answer && isCountable) await this.#compareChecks(answer, target);
  }

  async session(start: Positions, target: Positions, random: Random): Promise<void> {
    const { client, frames, until } = this.bench;
    const created = await client.createSession(this.#mesh, start, this.parameters);
    if ('refusal' in created) {
      this.#isRefusedRightly(start, created);
      return;
    }
    let x = start;
    for (let frame = 1; frame <= frames && (frame === 1 || performance.now() < until); frame++) {
      const y = aimAt(start, target, frame, random);
      const requestId = this.#nameRequest();
      const isRaw = frame % 3 === 0;
      const reply = isRaw
        ? await client.stepRaw(created.id, BigInt(frame), y)
        : await client.step(created.id, BigInt(frame), y, { requestId });
      const next = this.#judge(x, y, reply, isRaw ? undefined : requestId);
      if (next === undefined) break;
      x = next;
    }
    await client.deleteSession(created.id);
  }

  #nameRequest(): string {
    return `${this.prove.id}-${this.prove.seed}-${this.#requests++}`;
  }

  /** @returns true when there is nothing more to judge */
  #isRefusedRightly(start: Positions, reply: Reply | { readonly refusal: Refusal }): boolean {
    const { surface, tally } = this;
    const meetings = findMeetings(surface, start, this.#rules);
    const expected = expectReply(surface, start, this.#deltaAsked());
    if (!('refusal' in reply)) {
      if (meetings.length > 0) tally.find('an intersecting start is refused', `${meetings.length} pairs meet in it`);
      if (expected === 'TOLERANCE_TOO_SMALL')
        tally.find('TOLERANCE_TOO_SMALL where the scalar is too coarse', 'it was answered');
      return false;
    }
    const { code, message, pairCount } = reply.refusal;
    tally.end(code);
    const isTolerance = code === 'TOLERANCE_TOO_SMALL' && expected !== 'ANSWER';
    const isMeeting = code === 'INTERSECTING_START' && meetings.length > 0 && expected !== 'TOLERANCE_TOO_SMALL';
    if (isMeeting && pairCount !== meetings.length) {
      tally.find('INTERSECTING_START counts the pairs', `told ${pairCount}, are ${meetings.length}`);
    }
    if (!isTolerance && !isMeeting) tally.find('a right request is answered', `${code}: ${message}`);
    return true;
  }

  #deltaAsked(): number | undefined {
    const { activationDistance, preset, metresPerUnit } = this.parameters;
    // PAPER's default is a length of the real world: a millimetre.
    return activationDistance ?? (preset === 'PAPER' ? 0.001 / (metresPerUnit ?? 1) : undefined);
  }

  /** @returns the positions of the answer, if there was one */
  #judge(start: Positions, target: Positions, reply: Reply, requestId: string | undefined): Positions | undefined {
    const { surface, tally, bench } = this;
    if ('refusal' in reply) {
      tally.end(reply.refusal.code);
      tally.find('a right request is answered', `${reply.refusal.code}: ${reply.refusal.message}`);
      return undefined;
    }
    const { positions, report } = reply.answer;
    const question = { surface, start, target, invariants: this.#invariants, verify: this.#verify };
    tally.findings.push(...judgeAnswer(question, reply.answer));
    tally.answers++;
    tally.steps += report.steps;
    if (report.proximitySetReused) tally.reused++;
    tally.end(report.status);
    const states = bench.traceFolder && requestId ? takeTrace(bench.traceFolder, requestId) : undefined;
    if (states) this.#judgePath(states, start, positions);
    return positions;
  }

  #judgePath(states: readonly Positions[], start: Positions, answer: Positions): void {
    const { surface, tally } = this;
    const same = (a: Positions, b: Positions) => a.length === b.length && a.every((p, i) => p === b[i]);
    if (!same(states[0], start)) tally.find('a path begins at the start', 'the first state of the trace is another');
    if (!same(states[states.length - 1], answer))
      tally.find('a path ends at the answer', 'the last state of the trace is another');
    for (let k = 1; k < states.length; k++) {
      const collisions = findCollisions(surface, states[k - 1], states[k], this.#rules);
      tally.pieces++;
      if (collisions.length === 0) continue;
      const { a, b, time } = collisions[0];
      tally.find(
        'no collisions on the path',
        `piece ${k} of ${states.length - 1}: ${collisions.length} pairs, first ${a.join(',')} with ${b.join(',')} from t = ${time}`,
      );
      return;
    }
  }

  /** The service's check of a state, and of a path, against the judge's. */
  async #compareChecks(answer: Positions, target: Positions): Promise<void> {
    const { surface, tally, bench } = this;
    if (this.#rules.kinematicPairs !== 'SKIP') return;
    const meetings = findMeetings(surface, target, this.#rules);
    const { count, pathFree } = await bench.client.check(this.#mesh, target, answer);
    tally.checks++;
    if (count !== meetings.length) tally.find('check counts the pairs', `told ${count}, are ${meetings.length}`);
    if (pathFree === true && meetings.length > 0) tally.find('check: a path is free', 'it begins with an intersection');
  }
}

/** There and back again, with a tremble: neighbouring frames are close, so that proximity sets can be used again. */
function aimAt(start: Positions, target: Positions, frame: number, random: Random): Positions {
  const share = Math.sin(frame * 0.12) ** 2;
  const tremble = 1e-3 * random.between(-1, 1);
  const y = start instanceof Float64Array ? new Float64Array(start.length) : new Float32Array(start.length);
  for (let i = 0; i < y.length; i++) y[i] = start[i] + (share + tremble) * (target[i] - start[i]);
  return y;
}
