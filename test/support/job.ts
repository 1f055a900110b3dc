import { IntersticeError } from '../../src/contract/errors.js';
import type { ResolveAnswer, ResolveRequest } from '../../src/contract/requests.js';
import type { Limits } from '../../src/contract/server-info.js';
import type { Finding } from '../../src/jobs/finding.js';
import type { JobContext } from '../../src/jobs/job-run.js';
import { resolveJob } from '../../src/jobs/step-job.js';
import { exactVerifier } from '../../src/jobs/verifier.js';
import type { Engine } from '../../src/solver/engine.js';

export const LIMITS: Limits = {
  maxVertices: 10_000,
  maxElements: 20_000,
  maxMessageBytes: 1_000_000,
  maxSessions: 1,
  maxDeviceBytes: 0,
  maxQueue: 4,
  // Beyond the limit of a test file: what real engines compute is not cut short by a slow machine.
  maxTimeBudgetSeconds: 600,
};

/** A clock that stands still until it is moved, ms. */
export interface FakeClock {
  time: number;
}

export interface JobRun {
  readonly answer: ResolveAnswer;
  readonly findings: readonly Finding[];
}

/** Runs a resolve job in this thread, received at 0 on a clock that stands at 0. */
export async function runJob(
  request: ResolveRequest,
  engine: Engine,
  overrides: Partial<JobContext> & { readonly clock?: FakeClock } = {},
): Promise<JobRun> {
  const findings: Finding[] = [];
  const { clock = { time: 0 }, ...rest } = overrides;
  const answer = await resolveJob(
    { request, receivedAt: 0, queuedAt: 0 },
    {
      engine,
      limits: LIMITS,
      allowUnverified: false,
      verifier: exactVerifier,
      now: () => clock.time,
      isCancelled: () => false,
      onFinding: (finding) => findings.push(finding),
      ...rest,
    },
  );
  return { answer, findings };
}

/** The IntersticeError that `work` ends with; anything else fails the test. */
export async function refusalOf(work: Promise<unknown>): Promise<IntersticeError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof IntersticeError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

const FLOOR_TRIANGLE = [0, 0, 0, 1, 0, 0, 0, 1, 0];

/** A triangle lies in the plane z = 0; a spike hangs over it, its tip `height` above, and is sent down by `travel`. */
export function spike(height: number, travel: number): ResolveRequest {
  const at = (z: number) => [...FLOOR_TRIANGLE, 0.2, 0.2, z, 0.2, 0.4, z + 1, 0.4, 0.2, z + 1];
  return {
    mesh: { vertexCount: 6, triangles: Uint32Array.of(0, 1, 2, 3, 4, 5) },
    start: Float32Array.from(at(height)),
    target: Float32Array.from(at(height - travel)),
    parameters: {},
  };
}

/** Two crossed rods, the upper one sent `travel` down from `height` above the other. */
export function rods(height: number, travel: number): ResolveRequest {
  const at = (z: number) => Float32Array.of(-1, 0, 0, 1, 0, 0, 0, -1, z, 0, 1, z);
  return {
    mesh: { vertexCount: 4, segments: Uint32Array.of(0, 1, 2, 3) },
    start: at(height),
    target: at(height - travel),
    parameters: {},
  };
}
