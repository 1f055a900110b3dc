import type { Operations } from '../../src/contract/operations.js';
import type { Quality } from '../../src/contract/parameters.js';
import type { Report } from '../../src/contract/report.js';
import type { ResolveAnswer, ResolveRequest } from '../../src/contract/requests.js';
import { buildMesh } from '../../src/mesh/build.js';
import { type Fidelity, measureFidelity } from './measure.js';
import type { FidelitySession } from './scenes.js';

/** An answer of a scene in one quality. */
export interface FidelityRun {
  readonly quality: Quality;
  /** 1 to the number of frames; absent = one resolve */
  readonly frame?: number;
  /** steps of every frame */
  readonly frameSteps?: readonly number[];
  readonly report: Report;
  readonly fidelity: Fidelity;
  /** medians of the repeats, ms: stages of the solver, and processor time of the whole request with its checks */
  readonly solving: number;
  readonly processor: number;
}

interface Timed {
  readonly answer: ResolveAnswer;
  readonly solving: number;
  readonly processor: number;
}

/** Measures all qualities, which alternate, so that other work of the machine slows all of them equally. */
export async function measureQualities(
  operations: Operations,
  request: ResolveRequest,
  plan: {
    readonly qualities: readonly Quality[];
    readonly repeat: number;
    readonly warmUp: number;
    readonly session?: FidelitySession | undefined;
  },
): Promise<FidelityRun[]> {
  const { qualities, repeat, warmUp, session } = plan;
  const mesh = buildMesh(request.mesh);
  const turns: Timed[][][] = qualities.map(() => []);
  for (let n = -warmUp; n < repeat; n++) {
    for (const [q, quality] of qualities.entries()) {
      const asked = { ...request, parameters: { ...request.parameters, quality } };
      const frames = session
        ? await runSession(operations, asked, session)
        : [await timed(() => operations.resolve(asked))];
      if (n >= 0) turns[q].push(frames);
    }
  }
  return qualities.flatMap((quality, q) => {
    const frames = turns[q][0].length;
    return [...new Set([0, frames - 1])].map((k): FidelityRun => {
      const { positions, report } = turns[q][0][k].answer;
      const target = session ? session.target(request, k) : request.target;
      return {
        quality,
        ...(session ? { frame: k + 1, frameSteps: turns[q][0].map(({ answer }) => answer.report.steps) } : {}),
        report,
        fidelity: measureFidelity(mesh, positions, target, report.resolved.stretchLimit),
        solving: medianOf(turns[q].map((turn) => turn[k].solving)),
        processor: medianOf(turns[q].map((turn) => turn[k].processor)),
      };
    });
  });
}

async function runSession(operations: Operations, request: ResolveRequest, session: FidelitySession): Promise<Timed[]> {
  const { mesh, start, parameters } = request;
  const { id: sessionId } = await operations.createSession({ mesh, start, parameters });
  const frames: Timed[] = [];
  for (let k = 0; k < session.frames; k++) {
    const target = session.target(request, k);
    frames.push(await timed(() => operations.step({ sessionId, frame: BigInt(k + 1), target })));
  }
  await operations.deleteSession(sessionId);
  return frames;
}

async function timed(work: () => Promise<ResolveAnswer>): Promise<Timed> {
  const usage = process.cpuUsage();
  const answer = await work();
  const { user } = process.cpuUsage(usage);
  const { search, geometry, backward, forward } = answer.report.timings;
  return { answer, solving: (search + geometry + backward + forward) / 1000, processor: user / 1000 };
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
