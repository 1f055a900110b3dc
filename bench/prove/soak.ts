import { Client } from './client.js';
import { findMeetings } from './judge/state-judge.js';
import { readSurface } from './judge/surface.js';
import { GENERATED } from './scenes/generated.js';
import { Random } from './scenes/random.js';
import { ServerProcess } from './server.js';

export interface SoakResult {
  readonly engine: string;
  readonly seconds: number;
  readonly answers: number;
  /** bytes of the service's process: after the warm-up, and at the end (median of the last tenth) */
  readonly residentAtFirst: number | undefined;
  readonly residentAtLast: number | undefined;
  /** ms, median: first third after the warm-up, last third */
  readonly latencyAtFirst: number;
  readonly latencyAtLast: number;
  readonly findings: readonly string[];
}

/** The first fifth fills caches and lets the compiler of JavaScript finish. */
const WARM_UP_SHARE = 0.2;
/** Growth that is not called a leak: heaps breathe. Twice the process's own size would be reached by any true leak in hours. */
const ALLOWED_GROWTH = 1.5;
const ALLOWED_GROWTH_BYTES = 64 * 2 ** 20;
/** A machine that is shared has slow moments; three times slower for a third of the time is no moment. */
const ALLOWED_SLOWDOWN = 3;

/** The same few scenes again and again: memory and latency must stay where they are. */
export async function runSoak(engine: 'cpu' | 'webgpu', seconds: number, seed: number): Promise<SoakResult> {
  const server = await ServerProcess.start({ engine });
  const findings: string[] = [];
  const latencies: number[] = [];
  const memory: number[] = [];
  const scenes = ['soup', 'hair', 'chain'].map((name, k) => GENERATED[name](new Random(seed + k)));
  const surfaces = scenes.map(({ mesh }) => readSurface(mesh));
  const client = new Client(server.address);
  const started = performance.now();
  try {
    for (let n = 0; performance.now() - started < seconds * 1000; n++) {
      const k = n % scenes.length;
      const { mesh, start, target } = scenes[k];
      const before = performance.now();
      const reply = await client.resolve(mesh, start, target, { stepLimit: 20 });
      latencies.push(performance.now() - before);
      memory.push(server.residentBytes() ?? Number.NaN);
      if ('refusal' in reply) findings.push(`answer ${n}: ${reply.refusal.code}: ${reply.refusal.message}`);
      // Judging each would measure the judge; every twentieth keeps the promise in view.
      else if (
        n % 20 === 0 &&
        findMeetings(surfaces[k], reply.answer.positions, { kinematicPairs: 'SKIP' }).length > 0
      ) {
        findings.push(`answer ${n} intersects`);
      }
      if (findings.length > 10) break;
    }
  } finally {
    await server.stop();
  }
  const steady = Math.floor(latencies.length * WARM_UP_SHARE);
  const part = (list: readonly number[], from: number, to: number) =>
    median(
      list.slice(steady + Math.floor((list.length - steady) * from), steady + Math.ceil((list.length - steady) * to)),
    );
  const residentAtFirst = part(memory, 0, 0.1);
  const residentAtLast = part(memory, 0.9, 1);
  const latencyAtFirst = part(latencies, 0, 1 / 3);
  const latencyAtLast = part(latencies, 2 / 3, 1);
  const limit = Math.max(residentAtFirst * ALLOWED_GROWTH, residentAtFirst + ALLOWED_GROWTH_BYTES);
  if (residentAtLast > limit) findings.push(`memory grew from ${residentAtFirst} to ${residentAtLast} bytes`);
  if (latencyAtLast > ALLOWED_SLOWDOWN * latencyAtFirst) {
    findings.push(`a resolve took ${latencyAtFirst} ms at first and ${latencyAtLast} ms at last`);
  }
  return {
    engine,
    seconds: (performance.now() - started) / 1000,
    answers: latencies.length,
    residentAtFirst: Number.isNaN(residentAtFirst) ? undefined : residentAtFirst,
    residentAtLast: Number.isNaN(residentAtLast) ? undefined : residentAtLast,
    latencyAtFirst,
    latencyAtLast,
    findings,
  };
}

function median(list: readonly number[]): number {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
