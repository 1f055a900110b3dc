import type { ElementPair } from '../../src/contract/elements.js';
import { findLimitingPairs } from '../../src/solver/pair-report.js';
import type { DeviceMemory } from '../device/memory.js';
import type { Reader } from '../device/readback.js';
import { CONTROL, MOTION, VERTEX_PROGRESS } from '../kernels/structs.js';
import { type ControlBlock, namePair } from './answer.js';
import type { StepRecorder } from './recorder.js';
import type { SceneBuffers } from './scene-buffers.js';

export interface FinalState {
  readonly control: ControlBlock;
  readonly positions: Float32Array;
  readonly residuals: Float32Array;
  readonly limitingPairs: readonly ElementPair[];
}

/** Reads what a run left: one map, and one more for the names of the pairs that hold the worst vertices, if any do. */
export async function readFinalState(
  memory: DeviceMemory,
  buffers: SceneBuffers,
  recorder: StepRecorder,
  reader: Reader,
  input: { readonly vertexCount: number; readonly pairCount: number; readonly epsilon: number },
): Promise<FinalState> {
  const { vertexCount } = input;
  const encoder = memory.device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  recorder.countKinds(pass, input.pairCount);
  pass.end();
  const reading = reader.record(encoder, [
    { buffer: buffers.control, bytes: CONTROL.bytes },
    { buffer: buffers.x, bytes: 12 * vertexCount },
    { buffer: buffers.progress, bytes: VERTEX_PROGRESS.bytes * vertexCount },
    { buffer: buffers.motion, bytes: MOTION.bytes * vertexCount },
  ]);
  memory.device.queue.submit([encoder.finish()]);
  // Out of the very memory that the device has copied to: most of it is looked at once, and memory that is new to the process
  // costs more than what is done with it.
  const { worst, ...final } = await reading.look((range, [toControl, toX, toProgress, toMotion]) => {
    const control = CONTROL.unpack(range.slice(toControl, toControl + CONTROL.bytes));
    const positions = new Float32Array(range, toX, 3 * vertexCount).slice();
    const residuals = residualsIn(new Float32Array(range, toProgress, VERTEX_PROGRESS.words * vertexCount));
    const motion = new Uint32Array(range, toMotion, MOTION.words * vertexCount);
    const limiterOf = (vertex: number) => motion[MOTION.words * vertex + MOTION.word('limiter')] | 0;
    const worst = control.steps > 0 ? findLimitingPairs(residuals, limiterOf, input.epsilon, control.pairCount) : [];
    return { control, positions, residuals, worst };
  });
  return { ...final, limitingPairs: await namePairs(memory, buffers, reader, worst) };
}

async function namePairs(
  memory: DeviceMemory,
  { pairVertex, pairInfo, pairNormal, pairDistance }: SceneBuffers,
  reader: Reader,
  indices: readonly number[],
): Promise<ElementPair[]> {
  if (indices.length === 0) return [];
  const encoder = memory.device.createCommandEncoder();
  const reading = reader.record(
    encoder,
    indices.flatMap((p) => [
      { buffer: pairVertex, offset: 16 * p, bytes: 16 },
      { buffer: pairInfo, offset: 4 * p, bytes: 4 },
      { buffer: pairNormal, offset: 16 * p, bytes: 16 },
      { buffer: pairDistance, offset: 4 * p, bytes: 4 },
    ]),
  );
  memory.device.queue.submit([encoder.finish()]);
  const parts = await reading.wait();
  return indices.map((_, n) => namePair(parts.slice(4 * n, 4 * n + 4)));
}

/** float32[V] */
function residualsIn(progress: Float32Array): Float32Array {
  const { words } = VERTEX_PROGRESS;
  const residuals = new Float32Array(progress.length / words);
  for (let i = 0, n = VERTEX_PROGRESS.word('residual'); i < residuals.length; i++, n += words)
    residuals[i] = progress[n];
  return residuals;
}
