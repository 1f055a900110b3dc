import type { ElementPair } from '../../src/errors.js';
import type { SceneBuffers } from '../scene-buffers.js';
import { type ControlBlock, namePair, worstPairs } from './answer.js';
import { CONTROL } from './fields.js';
import type { DeviceMemory } from './ledger.js';
import type { Reader } from './reader.js';
import type { StepRecorder } from './recorder.js';

/** Words of Motion and VertexProgress, and where those wanted on the host lie in them. */
const STRUCT_WORDS = 4;
const LIMITER_WORD = 2;

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
    { buffer: buffers.progress, bytes: 4 * STRUCT_WORDS * vertexCount },
    { buffer: buffers.motion, bytes: 4 * STRUCT_WORDS * vertexCount },
  ]);
  memory.device.queue.submit([encoder.finish()]);
  const [block, x, progress, motion] = await reading.wait();
  const control = CONTROL.unpack(block);
  const residuals = everyFourth(new Float32Array(progress), 0);
  const limiter = everyFourth(new Uint32Array(motion), LIMITER_WORD);
  const worst = control.steps > 0 ? worstPairs(residuals, limiter, input.epsilon, control.pairCount) : [];
  const limitingPairs = await namePairs(memory, buffers, reader, worst);
  return { control, positions: new Float32Array(x), residuals, limitingPairs };
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

function everyFourth<T extends Float32Array | Uint32Array>(words: T, word: number): T {
  return words.filter((_, n) => n % STRUCT_WORDS === word) as T;
}
