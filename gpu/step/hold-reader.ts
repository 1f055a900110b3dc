import type { CollisionMesh } from '../../src/mesh/types.js';
import { HoldRecord, type PairView, type PushView } from '../../src/solver/cpu/hold-record.js';
import type { EngineHolds } from '../../src/solver/engine.js';
import { strainElementsOf } from '../../src/solver/strain/elements.js';
import type { DeviceMemory } from '../device/memory.js';
import { sliceOf } from '../device/place.js';
import type { Reader } from '../device/readback.js';
import { KIND_MASK, PHASE, type Phase } from '../kernels/constants.js';
import { VERTEX_STEP } from '../kernels/structs.js';
import type { ControlBlock } from './answer.js';
import { PULL_BACK_PAIR_BYTES } from './pull-back-buffers.js';
import type { SceneBuffers } from './scene-buffers.js';

/** Bytes that are read for every pair. */
const PAIR_BYTES = { pairVertex: 16, pairInfo: 4, kept: PULL_BACK_PAIR_BYTES } as const;

/**
 * The pair that held each vertex last, for a request that asks for it: read after every step, for which the kernel
 * `keepMultipliers` keeps λ by pair. The device then takes one step at a time. Mirrors what TwoWay and PullBack
 * (src/solver/cpu) report to HoldRecord.
 */
export class HoldReader {
  readonly #buffers: SceneBuffers;
  readonly #reader: Reader;
  readonly #vertexCount: number;
  readonly #record: HoldRecord;

  /** Opens a reader with room for the multipliers. @throws OUT_OF_DEVICE_MEMORY */
  static async open(
    memory: DeviceMemory,
    buffers: SceneBuffers,
    reader: Reader,
    { mesh, scale }: { readonly mesh: CollisionMesh; readonly scale: number },
  ): Promise<HoldReader> {
    const strains = strainElementsOf(mesh, scale);
    await memory.checkAllocations('the multipliers', () => buffers.reservePullBack(strains));
    return new HoldReader(buffers, reader, mesh.vertexCount);
  }

  private constructor(buffers: SceneBuffers, reader: Reader, vertexCount: number) {
    this.#buffers = buffers;
    this.#reader = reader;
    this.#vertexCount = vertexCount;
    this.#record = new HoldRecord(vertexCount);
  }

  get holds(): EngineHolds {
    return this.#record.holds;
  }

  /**
   * Records the holds after a submission of at most one step.
   *
   * @param before the control block before it @param control after it @param phase of the step
   */
  async note(before: ControlBlock, control: ControlBlock, phase: Phase): Promise<void> {
    const { pairs, limiter, pushes } = await this.#read(control.pairCount);
    const isAdvance = phase === PHASE.ADVANCE;
    if (control.steps > before.steps) {
      if (isAdvance) this.#record.noteRows(control.steps, pushes, pairs, limiter);
      else this.#record.notePull(control.steps, pairs, limiter);
    }
    if (!isAdvance && phase !== PHASE.SHORTEN && control.bests > before.bests) this.#record.keepPushes();
    // A step of the pull-back ends with the sweeps of the next one. After a search of everything, what they have kept lies
    // at the places that their pairs had before it, and was taken with the status before.
    if (!isAdvance && control.keptAt === control.clock) this.#record.takePushes(pushes);
  }

  async #read(pairCount: number) {
    const slices = [
      sliceOf(this.#buffers.vertexStep, VERTEX_STEP.bytes * this.#vertexCount),
      ...Object.entries(PAIR_BYTES).map(([name, bytes]) => sliceOf(this.#buffers.named(name), bytes * pairCount)),
    ];
    const reading = await this.#reader.read(slices);
    const [steps, vertices, infos, kept] = await reading.wait();
    const vertex = new Int32Array(vertices);
    const kind = new Uint32Array(infos).map((info) => info & KIND_MASK);
    const pairs: PairView = { kind, vertex };
    const pushes: PushView = { ...pairs, count: pairCount, lambda: new Float32Array(kept) };
    return { pairs, limiter: limitersIn(new Uint32Array(steps)), pushes };
  }
}

/** int32[V]; NO_PAIR, all bits set, becomes −1. */
function limitersIn(steps: Uint32Array): Int32Array {
  const { words } = VERTEX_STEP;
  const at = VERTEX_STEP.word('limiter');
  return Int32Array.from({ length: steps.length / words }, (_, v) => steps[words * v + at] | 0);
}
