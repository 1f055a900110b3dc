import type { MeasuredOperations } from '../../src/contract/events.js';
import type { Report } from '../../src/contract/report.js';
import type { ResolveRequest } from '../../src/contract/requests.js';
import type { Limits } from '../../src/contract/server-info.js';
import { createOperations } from '../../src/session/operations.js';
import { spreadOf } from '../measure.js';
import type { Outcome } from './items.js';

/** Only the machine limits the work. */
const LIMITS: Limits = {
  maxVertices: 16_000_000,
  maxElements: 64_000_000,
  maxMessageBytes: 2 ** 32,
  maxSessions: 256,
  maxDeviceBytes: 2 ** 40,
  maxQueue: 256,
  maxTimeBudgetSeconds: 86_400,
};

/** Opens the operations of the service on the device, with its checks of starts and answers. The caller closes them. */
export const openDeviceOperations = (threads: number): Promise<MeasuredOperations> =>
  createOperations({
    engine: 'webgpu',
    adapter: process.env.INTERSTICE_ADAPTER,
    shaderCache: process.env.INTERSTICE_SHADER_CACHE,
    threads,
    limits: LIMITS,
    allowUnverified: false,
  });

/** Ends of the frames of a session, as shares of the way from start to target: forward in small steps. */
const FRAMES = [0.8, 0.82, 0.84, 0.86, 0.88, 0.9];

export const targetAt = ({ start, target }: ResolveRequest, share: number): Float64Array =>
  Float64Array.from(target, (value, k) => start[k] + share * (value - start[k]));

const STAGES = ['search', 'geometry', 'backward', 'forward', 'verify', 'readback', 'total'] as const;

const timesOf = ({ timings }: Report): Record<string, number> =>
  Object.fromEntries(STAGES.map((stage) => [stage, timings[stage] / 1000]));

/**
 * Measures a session through the operations of the service: its creation, its first frame and warm ones, with every
 * answer verified.
 */
export async function measureService(request: ResolveRequest): Promise<Outcome> {
  const began = performance.now();
  const operations = await openDeviceOperations(1);
  const openMilliseconds = performance.now() - began;
  try {
    const since = performance.now();
    const { mesh, start, parameters } = request;
    const { id: sessionId } = await operations.createSession({ mesh, start, parameters });
    const createMilliseconds = performance.now() - since;
    const frames: {
      milliseconds: number;
      status: string;
      steps: number;
      contacts: number;
      times: Record<string, number>;
    }[] = [];
    for (const share of FRAMES) {
      const asked = performance.now();
      const { report } = await operations.step({ sessionId, target: targetAt(request, share) });
      const milliseconds = performance.now() - asked;
      const { status, steps, pairs } = report;
      frames.push({ milliseconds, status, steps, contacts: pairs.activeContacts, times: timesOf(report) });
    }
    const warm = frames.slice(1);
    const median = (pick: (frame: (typeof warm)[number]) => number): string =>
      spreadOf(warm.map(pick)).median.toFixed(1);
    return {
      figures: { openMilliseconds, createMilliseconds, frames },
      faults: frames.flatMap(({ contacts }, n) => (contacts > 0 ? [] : [`frame ${n + 1} has no contact`])),
      lines: [
        `lane open in ${openMilliseconds.toFixed(0)} ms, session in ${createMilliseconds.toFixed(0)} ms, first frame ${frames[0].milliseconds.toFixed(1)} ms`,
        `warm frames: median ${median(({ milliseconds }) => milliseconds)} ms of the caller; ${STAGES.map((stage) => `${stage} ${median(({ times }) => times[stage])}`).join(', ')}`,
      ],
    };
  } finally {
    await operations.close();
  }
}
