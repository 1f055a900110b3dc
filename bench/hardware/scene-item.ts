import type { GpuEngine } from '../../gpu/engine.js';
import type { GpuScene } from '../../gpu/scene.js';
import type { Quality } from '../../src/contract/parameters.js';
import type { ResolveRequest } from '../../src/contract/requests.js';
import type { Resolution } from '../../src/solver/engine.js';
import { findIntersections } from '../../src/verify/state.js';
import { spreadOf } from '../measure.js';
import { type EngineCase, prepare } from '../measure-engines.js';
import type { Outcome } from './items.js';

/** One frame: a request to an engine whose scene is open. */
interface Frame {
  readonly share: number;
  readonly status: string;
  readonly steps: number;
  readonly searches: number;
  readonly pairs: number;
  readonly contacts: number;
  readonly sweepRounds: number;
  /** of the host, from call to answer */
  readonly milliseconds: number;
  /** of the device by stage, in milliseconds; all in `forward` if there are no time stamps */
  readonly stages: Readonly<Record<string, number>>;
  /** steps recorded and submitted, including those that found nothing to do */
  readonly submittedSteps: number;
  readonly dispatchesPerStep: number;
}

const targetAt = ({ x, y }: EngineCase, share: number): Float32Array =>
  Float32Array.from(y, (value, k) => x[k] + share * (value - x[k]));

function frameOf(scene: GpuScene, resolution: Resolution, share: number, spent: number, submitted: number): Frame {
  const { status, steps, searches, pairs, timings } = resolution;
  const { search, geometry, backward, forward } = timings;
  return {
    share,
    status,
    steps,
    searches,
    pairs: pairs.vertexTriangle + pairs.edgeEdge + pairs.vertexEdge + pairs.vertexVertex,
    contacts: pairs.activeContacts,
    sweepRounds: pairs.colours,
    milliseconds: spent,
    stages: Object.fromEntries(
      Object.entries({ search, geometry, backward, forward }).map(([stage, time]) => [stage, time / 1000]),
    ),
    submittedSteps: submitted,
    dispatchesPerStep: scene.dispatchesPerStep,
  };
}

/**
 * Measures a session of one scene on the engine alone: the first request, warm frames, and the last frame once more
 * with a pause after every step, for the time of each step. Every frame begins at the answer of the previous one; the
 * last answer is tested for intersections.
 *
 * @param shares ends of the frames, as shares of the way from start to target
 */
export async function measureScene(
  engine: GpuEngine,
  request: ResolveRequest,
  shares: readonly number[],
  quality: Quality,
): Promise<Outcome> {
  const subject = prepare({ request: { ...request, parameters: { ...request.parameters, quality } } });
  const { mesh, parameters, units } = subject;
  const began = performance.now();
  const scene = (await engine.open(mesh, parameters, units)) as GpuScene;
  const openMilliseconds = performance.now() - began;
  try {
    const frames: Frame[] = [];
    let x = subject.x;
    let before = x;
    for (const share of shares) {
      before = x;
      const y = targetAt(subject, share);
      const submitted = scene.submittedSteps;
      const since = performance.now();
      const resolution = await scene.resolve({ x, y });
      const spent = performance.now() - since;
      frames.push(frameOf(scene, resolution, share, spent, scene.submittedSteps - submitted));
      x = resolution.positions;
    }
    const last = shares[shares.length - 1];
    const stepTimes: number[] = [];
    let at = performance.now();
    await scene.resolve({
      x: before,
      y: targetAt(subject, last),
      // A listener for states makes the engine submit one step at a time; states arrive in bursts, because some are
      // discarded.
      onState: () => undefined,
      onProgress: () => {
        const now = performance.now();
        stepTimes.push(now - at);
        at = now;
      },
    });
    const rules = { kinematicPairs: parameters.kinematicPairs, maxPairs: 1 };
    const isVerified = findIntersections(mesh, x, rules).intersectionCount === 0;
    const figures = {
      vertices: mesh.vertexCount,
      triangles: mesh.triangles.length / 3,
      quality,
      openMilliseconds,
      deviceMiB: scene.bytes / 2 ** 20,
      frames,
      stepTimes,
      isVerified,
    };
    return {
      figures,
      lines: linesOf(frames, openMilliseconds, stepTimes, isVerified),
      faults: faultsOf(frames, isVerified),
    };
  } finally {
    scene.close();
  }
}

const ms = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function faultsOf(frames: readonly Frame[], isVerified: boolean): string[] {
  const faults = frames.flatMap(({ share, contacts }) =>
    contacts > 0 ? [] : [`the frame to ${share} has no contact`],
  );
  if (!isVerified) faults.push('the answer intersects itself');
  return faults;
}

function linesOf(
  frames: readonly Frame[],
  openMilliseconds: number,
  stepTimes: readonly number[],
  isVerified: boolean,
): string[] {
  const lines = frames.map((frame, n) => {
    const { steps, submittedSteps, contacts, pairs, stages, milliseconds, status, dispatchesPerStep } = frame;
    const device = sum(Object.values(stages));
    return (
      `${n === 0 ? `opened in ${ms(openMilliseconds)} ms; first` : 'warm'} frame to ${frame.share}: ${status}, ${ms(milliseconds)} ms ` +
      `(device ${ms(device)}: ${Object.entries(stages)
        .map(([stage, time]) => `${stage} ${ms(time)}`)
        .join(', ')}), ` +
      `${steps} steps of ${submittedSteps} submitted, ${dispatchesPerStep} dispatches each, ${pairs} pairs, ` +
      `${contacts > 0 ? `${contacts} contacts` : 'NO CONTACT'}`
    );
  });
  const sorted = [...stepTimes].sort((a, b) => a - b);
  if (sorted.length > 0) {
    const { median, min, max } = spreadOf(sorted);
    const high = sorted[Math.min(sorted.length - 1, Math.ceil(0.9 * sorted.length) - 1)];
    lines.push(
      `steps one by one: ${sorted.length}, median ${ms(median)} ms, ${ms(min)} to ${ms(max)}, nine tenths under ${ms(high)}`,
    );
  }
  lines.push(isVerified ? 'the answer has no intersection' : 'THE ANSWER INTERSECTS ITSELF');
  return lines;
}
