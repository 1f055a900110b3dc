import { aimAt } from './cases/session-plan.js';
import type { Reply } from './doors/door.js';
import { Client } from './doors/json-door.js';
import { findMeetings } from './judge/state-judge.js';
import { readSurface } from './judge/surface.js';
import type { ProveScene } from './scenes/builder.js';
import { GENERATED } from './scenes/generated.js';
import { Random } from './scenes/random.js';
import { ServerProcess } from './server.js';

/** A quantity after the warm-up and at the end: medians of the first and last third; undefined = not reported. */
export interface Course {
  readonly atFirst: number | undefined;
  readonly atLast: number | undefined;
}

export interface SoakResult {
  readonly engine: string;
  readonly seconds: number;
  readonly answers: number;
  /** sessions that were opened and deleted, besides the one that lasted throughout */
  readonly sessions: number;
  /** bytes of the service's process */
  readonly resident: Course;
  /** bytes that sessions hold on the device, and on the host, by the metrics of the service */
  readonly device: Course;
  readonly host: Course;
  /** s of processor time of the service in ten rounds: judged, because other work of the machine does not change it */
  readonly processor: Course;
  /** ms of a resolve, of a step */
  readonly resolveLatency: Course;
  readonly stepLatency: Course;
  /** ms of a fixed computation in the campaign's own process: shows how busy the machine is otherwise */
  readonly machine: Course;
  readonly findings: readonly string[];
}

/** The first fifth fills caches and lets the compiler of JavaScript finish. */
const WARM_UP_SHARE = 0.2;
/** Growth that does not count as a leak: heaps fluctuate. A true leak exceeds it within hours. */
const ALLOWED_GROWTH = 1.5;
const ALLOWED_GROWTH_BYTES = 64 * 2 ** 20;
/** The memory that sessions hold is counted, not measured: a little for pairs that come and go. */
const ALLOWED_HELD_BYTES = 8 * 2 ** 20;
/** Processor time fluctuates with the caches that other processes leave, but not threefold for a third of the run. */
const ALLOWED_SLOWDOWN = 3;
/** Number of steps of a short session. */
const SHORT_SESSION = 10;
/** Limits the length of steps, so that the answers of a soak are many and comparable. */
const STEP_LIMIT = 20;
const MAX_FINDINGS = 10;

/** Resolves, one long session and many short ones, again and again: memory and processor time must not grow. */
export async function runSoak(engine: 'cpu' | 'webgpu', seconds: number, seed: number): Promise<SoakResult> {
  const server = await ServerProcess.start({ engine });
  const soak = new Soak(server, seed);
  const started = performance.now();
  try {
    await soak.open();
    while (performance.now() - started < seconds * 1000 && soak.findings.length < MAX_FINDINGS) await soak.round();
  } finally {
    await server.stop();
  }
  return soak.result(engine, (performance.now() - started) / 1000);
}

class Soak {
  readonly findings: string[] = [];
  readonly #client: Client;
  readonly #random: Random;
  readonly #scenes: readonly ProveScene[];
  readonly #resolves: number[] = [];
  readonly #steps: number[] = [];
  readonly #resident: number[] = [];
  readonly #device: number[] = [];
  readonly #host: number[] = [];
  readonly #machine: number[] = [];
  readonly #processor: number[] = [];
  #processorBefore: number | undefined;
  #long = '';
  #short: string | undefined;
  #round = 0;
  #sessions = 0;

  constructor(
    private readonly server: ServerProcess,
    seed: number,
  ) {
    this.#client = new Client(server.address);
    this.#random = new Random(seed);
    this.#scenes = ['soup', 'hair', 'chain'].map((name, k) => GENERATED[name](new Random(seed + k)));
  }

  async open(): Promise<void> {
    this.#long = await this.#create(this.#scenes[0]);
  }

  async round(): Promise<void> {
    const n = this.#round++;
    const scene = this.#scenes[n % this.#scenes.length];
    const { mesh, start, target } = scene;
    const resolve = this.#client.resolve(mesh, start, target, { stepLimit: STEP_LIMIT });
    this.#see(scene, `resolve ${n}`, await timed(resolve, this.#resolves));
    this.#machine.push(measureMachine());
    const frame = BigInt(n + 1);
    this.#see(this.#scenes[0], `frame ${frame}`, await timed(this.#step(this.#long, n + 1, 0), this.#steps));
    const turn = n % SHORT_SESSION;
    if (turn === 0) this.#short = await this.#create(this.#scenes[1]);
    this.#see(this.#scenes[1], `short session, frame ${turn + 1}`, await this.#step(this.#short!, turn + 1, 1));
    if (turn === SHORT_SESSION - 1) {
      await this.#client.deleteSession(this.#short!);
      this.#sessions++;
    }
    // Always after the same step of a short session, so that the figures are comparable.
    if (turn === SHORT_SESSION - 1) await this.#measure();
  }

  result(engine: string, seconds: number): SoakResult {
    const bytes = [this.#resident, this.#device, this.#host].map((list) => courseOf(list));
    const latencies = [this.#resolves, this.#steps].map((list) => courseOf(list));
    this.#judgeGrowth('memory of the process', bytes[0], ALLOWED_GROWTH_BYTES);
    this.#judgeGrowth('memory held on the device', bytes[1], ALLOWED_HELD_BYTES);
    this.#judgeGrowth('memory held for sessions', bytes[2], ALLOWED_HELD_BYTES);
    const machine = courseOf(this.#machine);
    const processor = courseOf(this.#processor);
    const { atFirst = 0, atLast = 0 } = processor;
    if (atLast > ALLOWED_SLOWDOWN * atFirst)
      this.findings.push(`ten rounds took ${atFirst} s of processor time at first and ${atLast} s at last`);
    const answers = this.#resolves.length + 2 * this.#steps.length;
    const [resident, device, host] = bytes;
    const [resolveLatency, stepLatency] = latencies;
    const { findings } = this;
    const sessions = this.#sessions;
    return {
      engine,
      seconds,
      answers,
      sessions,
      resident,
      device,
      host,
      processor,
      resolveLatency,
      stepLatency,
      machine,
      findings,
    };
  }

  async #create({ mesh, start }: ProveScene): Promise<string> {
    const created = await this.#client.createSession(mesh, start, { stepLimit: STEP_LIMIT });
    if ('refusal' in created) throw new Error(`Soak: no session: ${created.refusal.code}: ${created.refusal.message}`);
    return created.id;
  }

  #step(id: string, frame: number, scene: number): Promise<Reply> {
    const { start, target } = this.#scenes[scene];
    // The same few targets in turn, because later steps would otherwise have more to do than earlier ones.
    return this.#client.stepFast(id, BigInt(frame), aimAt(start, target, frame % SHORT_SESSION, this.#random));
  }

  #see(scene: ProveScene, what: string, reply: Reply): void {
    if ('refusal' in reply) this.findings.push(`${what}: ${reply.refusal.code}: ${reply.refusal.message}`);
    // Judging every answer would measure the judge, so every twentieth is judged.
    else if (this.#round % 20 === 0) {
      const meetings = findMeetings(readSurface(scene.mesh), reply.answer.positions, { kinematicPairs: 'SKIP' });
      if (meetings.length > 0) this.findings.push(`${what} intersects`);
    }
  }

  async #measure(): Promise<void> {
    const bytes = this.server.residentBytes();
    if (bytes !== undefined) this.#resident.push(bytes);
    const spent = this.server.processorTime();
    if (spent !== undefined && this.#processorBefore !== undefined) this.#processor.push(spent - this.#processorBefore);
    this.#processorBefore = spent;
    const page = await (await fetch(`${this.server.adminAddress}/metrics`)).text();
    for (const [name, list] of [
      ['interstice_device_bytes', this.#device],
      ['interstice_host_bytes', this.#host],
    ] as const) {
      const value = page.match(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm'))?.[1];
      if (value === undefined) this.findings.push(`the metrics lack ${name}`);
      else list.push(Number(value));
    }
  }

  #judgeGrowth(what: string, { atFirst, atLast }: Course, allowed: number): void {
    if (atFirst === undefined || atLast === undefined) return;
    const limit = Math.max(atFirst * ALLOWED_GROWTH, atFirst + allowed);
    if (atLast > limit) this.findings.push(`${what} grew from ${atFirst} to ${atLast} bytes`);
  }
}

/** ms of wall time that a fixed piece of work takes now. */
function measureMachine(): number {
  const before = performance.now();
  let sum = 0;
  for (let k = 1; k < 2_000_000; k++) sum += Math.sqrt(k);
  return performance.now() - before + (sum < 0 ? 1 : 0);
}

async function timed<T>(call: Promise<T>, into: number[]): Promise<T> {
  const before = performance.now();
  const result = await call;
  into.push(performance.now() - before);
  return result;
}

function courseOf(list: readonly number[]): Course {
  const steady = list.slice(Math.floor(list.length * WARM_UP_SHARE));
  const third = Math.ceil(steady.length / 3);
  return { atFirst: median(steady.slice(0, third)), atLast: median(steady.slice(-third)) };
}

function median(list: readonly number[]): number | undefined {
  return [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
}
