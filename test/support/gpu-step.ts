import { foldGroups, foldThreads, groupsFor } from '../../gpu/device/dispatch.js';
import type { KernelSet } from '../../gpu/device/kernel.js';
import type { DeviceMemory } from '../../gpu/device/memory.js';
import { sliceOf, write } from '../../gpu/device/place.js';
import { Reader } from '../../gpu/device/readback.js';
import { toFours, toThrees } from '../../gpu/device/vectors.js';
import { type Phase, STEP_SLOT, SUM_GROUPS } from '../../gpu/kernels/constants.js';
import { CONTROL, PARAMETERS } from '../../gpu/kernels/structs.js';
import { Dispatcher } from '../../gpu/step/dispatcher.js';
import { type EdgePlan, planEdges } from '../../gpu/step/edge-plan.js';
import { PullBackRecorder } from '../../gpu/step/pull-back-recorder.js';
import { StepRecorder, type WideRounds } from '../../gpu/step/recorder.js';
import { packPullBack } from '../../gpu/step/request.js';
import { SceneBuffers } from '../../gpu/step/scene-buffers.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import type { PairSet } from '../../src/solver/cpu/pair-set.js';
import { planPullBack } from '../../src/solver/scattered-targets.js';
import type { Settings } from '../../src/solver/settings.js';
import { type StrainElements, strainElementsOf } from '../../src/solver/strain/elements.js';

export interface StageInput {
  readonly mesh: CollisionMesh;
  readonly settings: Settings;
  readonly pairs: PairSet;
  readonly box: Float32Array;
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly start?: Float32Array;
  readonly clock: number;
  /** whether the step is one of the pull-back; absent = it is not */
  readonly isAiming?: boolean;
  /** a gap that the forward step leaves of larger ones; absent = the floor */
  readonly keptGap?: number;
}

type BufferName =
  | 'x'
  | 'y'
  | 'next'
  | 'vertexStep'
  | 'pairDistance'
  | 'pairInfo'
  | 'pairNormal'
  | 'control'
  | 'candidates'
  | 'contacts'
  | 'progress'
  | 'best'
  | 'pull'
  | 'sums'
  | 'shortfalls'
  | 'edgePush'
  | 'edgeRow'
  | 'heldEdges'
  | 'heldStrains'
  | 'strainShares'
  | 'strainState'
  | 'kept'
  | 'pieces'
  | 'offsets'
  | 'wanted';

/** Words of Candidate (gpu/kernels/common/pair.wgsl) and of its fields used here. */
const CANDIDATE = { words: 16, weight: 0, entry: 8, distance: 9 } as const;
/** Where backward/contact-words.wgsl has the candidates that are kept, and those that are rows, in candidateCapacity words. */
const CONTACT_SECTIONS = { queue: 13, row: 14 } as const;
const COUNTS_SECTION = 15;
const INDEX_MASK = 0x1fffffff;

/** A candidate as geometry lists it. */
export interface FoundCandidate {
  readonly pair: number;
  readonly distance: number;
  /** float32[4] */
  readonly weight: Float32Array;
}

/** One workgroup makes the whole sweep. */
export const NO_ROUNDS: WideRounds = { rounds: 0, ordering: 0, threads: 0 };

/** The buffers of one step with given contents: runs stages one by one and reads their results. */
export class StageBench {
  readonly recorder: StepRecorder;
  readonly pullBack: PullBackRecorder;
  readonly edges: EdgePlan;
  readonly #memory: DeviceMemory;
  readonly #buffers: SceneBuffers;
  readonly #reader: Reader;
  readonly #strains: StrainElements | undefined;
  /** workgroups of a sum */
  readonly #sumGroups: number;

  constructor(memory: DeviceMemory, kernels: KernelSet, input: StageInput) {
    const { mesh, settings, pairs, clock } = input;
    this.#memory = memory;
    this.edges = planEdges(mesh, settings.sigma > 0);
    this.#sumGroups = Math.min(SUM_GROUPS, groupsFor(Math.max(mesh.vertexCount, this.edges.count)));
    this.#buffers = new SceneBuffers(memory, mesh, this.edges, Math.max(16, pairs.count), pairs.count);
    this.#reader = new Reader(memory);
    const dispatcher = new Dispatcher(kernels, this.#buffers);
    this.recorder = new StepRecorder(dispatcher, this.edges);
    this.#strains = strainElementsOf(mesh, settings.scale);
    this.pullBack = new PullBackRecorder(dispatcher, this.recorder, this.edges, this.#strains);
    const { queue } = memory.device;
    const buffers = this.#buffers;
    const copy = (from: Float32Array): Float32Array<ArrayBuffer> => Float32Array.from(from);
    write(queue, buffers.x, 0, copy(input.x));
    write(queue, buffers.y, 0, toFours(input.y));
    write(queue, buffers.target, 0, copy(input.y));
    write(queue, buffers.start, 0, copy(input.start ?? input.x));
    write(queue, buffers.box, 0, copy(input.box));
    const normal = new Float32Array(4 * pairs.count);
    for (let p = 0; p < pairs.count; p++) {
      for (let c = 0; c < 3; c++) normal[4 * p + c] = pairs.normal[3 * p + c];
      normal[4 * p + 3] = pairs.delta[p];
    }
    write(queue, buffers.pairVertex, 0, pairs.vertex.slice(0, 4 * pairs.count));
    write(queue, buffers.pairInfo, 0, Uint32Array.from(pairs.kind.subarray(0, pairs.count)));
    write(queue, buffers.pairNormal, 0, normal);
    const s = settings;
    write(
      queue,
      buffers.parameters,
      0,
      PARAMETERS.pack({
        vertexCount: mesh.vertexCount,
        edgeCount: this.edges.count,
        wideColours: this.edges.wideColours,
        stepLimit: s.stepLimit,
        delta: s.delta,
        floor: s.floor,
        keptGap: input.keptGap ?? 0,
        gamma: s.gamma,
        epsilon: s.epsilon,
        sigma: s.sigma,
        isPlanar: s.forward === 'PLANAR' ? 1 : 0,
        isVolume: s.contact === 'VOLUME' ? 1 : 0,
        hasBoxes: s.guard === 'BOXES' ? 1 : 0,
        hasEarlyPullBack: 1,
        isAiming: input.isAiming ? 1 : 0,
        // Any number of contacts may go through the wide rounds, so that both ways can be compared.
        tailRows: 0,
        roundRows: 0,
        coveredCandidates: 0xffffffff,
        leap: s.leap,
      }),
    );
    write(
      queue,
      buffers.control,
      0,
      CONTROL.pack({
        clock,
        pairCount: pairs.count,
        pairCapacity: buffers.pairCapacity,
        candidateCapacity: buffers.candidateCapacity,
        packedRows: buffers.packedRows,
        radius: s.searchRadiusMax,
      }),
    );
    const slots = new Uint32Array(3 * (STEP_SLOT.FIRST_EDGES + this.edges.wideColours));
    const writeSlot = (slot: number, size: readonly [number, number, number]) => slots.set(size, 3 * slot);
    writeSlot(STEP_SLOT.ONE, [1, 1, 1]);
    writeSlot(STEP_SLOT.VERTICES, foldThreads(mesh.vertexCount));
    writeSlot(STEP_SLOT.PAIRS, foldThreads(pairs.count));
    writeSlot(STEP_SLOT.CARRIED, foldThreads(pairs.count));
    writeSlot(STEP_SLOT.EDGES, foldThreads(this.edges.count));
    writeSlot(STEP_SLOT.SUMS, foldGroups(this.#sumGroups));
    for (let c = 0; c < this.edges.wideColours; c++) {
      writeSlot(STEP_SLOT.FIRST_EDGES + c, foldThreads(this.edges.colours[c + 1] - this.edges.colours[c]));
    }
    write(queue, buffers.stepArguments, 0, slots);
    this.run((pass) => {
      // The lists of a step begin empty.
      this.recorder.arm(pass);
      this.recorder.linearise(pass);
    });
    if (settings.pullBack) this.#buffers.reservePullBack(this.#strains);
    this.#buffers.reservePieces();
  }

  /**
   * Writes the parameters of a phase of the pull-back.
   *
   * @param of.cheapPairs absent = that of the mesh
   */
  writePullBack(
    { settings, mesh, y }: StageInput,
    phase: Exclude<Phase, 0>,
    of: { readonly hasOffsets?: boolean; readonly cheapPairs?: number } = {},
  ): void {
    // Targets that are where the vertices stand are not scattered.
    const plan = planPullBack(mesh, settings, y, y);
    if (!plan) throw new Error('These settings have no pull-back.');
    const { hasOffsets = false, cheapPairs = plan.cheapPairs } = of;
    const parameters = packPullBack(
      settings,
      { ...plan, cheapPairs },
      { edges: this.edges, phase, hasOffsets, strains: this.#strains },
    );
    write(this.#memory.device.queue, this.#buffers.named('pullBack'), 0, parameters);
  }

  /**
   * Opens a phase of the pull-back; its first y is that of the bench, not rebuilt.
   *
   * @param offsets float32[2·V] contact offset and δ by vertex, where parts have their own
   */
  beginPullBack(input: StageInput, phase: Exclude<Phase, 0>, offsets?: Float32Array): void {
    const { mesh, y } = input;
    this.writePullBack(input, phase, { hasOffsets: offsets !== undefined });
    if (offsets) this.write('offsets', offsets);
    this.run((pass) => this.pullBack.open(pass, phase, mesh.vertexCount));
    this.writeY(y);
  }

  /** Writes fields of the control block; the others keep what they hold. */
  async writeControl(values: Record<string, number>): Promise<void> {
    const packed = CONTROL.pack({ ...(await this.control()), ...values });
    write(this.#memory.device.queue, this.#buffers.control, 0, packed);
  }

  write(name: BufferName | 'target', content: Float32Array): void {
    write(this.#memory.device.queue, this.#buffers.named(name), 0, Float32Array.from(content));
  }

  writeWords(name: BufferName, content: Uint32Array): void {
    write(this.#memory.device.queue, this.#buffers.named(name), 0, Uint32Array.from(content));
  }

  writeY(y: Float32Array): void {
    write(this.#memory.device.queue, this.#buffers.y, 0, toFours(y));
  }

  /** Marks every vertex as hardly moved for so many consecutive steps. */
  writeStuck(steps: number): void {
    const progress = new Uint32Array(this.#buffers.progress.size / 4);
    for (let n = 3; n < progress.length; n += 4) progress[n] = steps;
    write(this.#memory.device.queue, this.#buffers.progress, 0, progress);
  }

  run(record: (pass: GPUComputePassEncoder) => void): void {
    const encoder = this.#memory.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    record(pass);
    pass.end();
    this.#memory.device.queue.submit([encoder.finish()]);
  }

  /**
   * The sums of the merit (merit.wgsl), of which each workgroup has left its part: the four of all vertices and edges,
   * then the two of the near vertices.
   */
  async merit(): Promise<number[]> {
    const sums = await this.floats('sums');
    const near = 4 * SUM_GROUPS;
    return [0, 1, 2, 3, near, near + 1].map((at) =>
      Array.from({ length: this.#sumGroups }).reduce((sum: number, _, n) => sum + sums[4 * n + at]!, 0),
    );
  }

  async read(name: BufferName): Promise<ArrayBuffer> {
    const reading = await this.#reader.read([sliceOf(this.#buffers.named(name))]);
    return (await reading.wait())[0];
  }

  async floats(name: BufferName): Promise<Float32Array> {
    const floats = new Float32Array(await this.read(name));
    return name === 'y' ? toThrees(floats) : floats;
  }

  async words(name: BufferName): Promise<Uint32Array> {
    return new Uint32Array(await this.read(name));
  }

  /** The candidates of geometry, by number. To be read before the forward step, which uses the same memory. */
  async candidates(): Promise<FoundCandidate[]> {
    const { candidateCount } = await this.control();
    const floats = await this.floats('candidates');
    const words = new Uint32Array(floats.buffer);
    return Array.from({ length: candidateCount }, (_, n) => {
      const at = CANDIDATE.words * n;
      return {
        pair: words[at + CANDIDATE.entry] & INDEX_MASK,
        distance: floats[at + CANDIDATE.distance],
        weight: floats.slice(at + CANDIDATE.weight, at + CANDIDATE.weight + 4),
      };
    });
  }

  /** Pairs of the candidates in a section of the contact words: those that were kept, until they are rows, or the rows. */
  async pairsIn(section: keyof typeof CONTACT_SECTIONS, count: number): Promise<number[]> {
    const candidates = await this.candidates();
    const from = CONTACT_SECTIONS[section] * this.#buffers.candidateCapacity;
    const words = (await this.words('contacts')).slice(from, from + count);
    return [...words].map((n) => candidates[n].pair);
  }

  /** Contacts of the second round and those after it, so many of them. */
  async sizesOfRounds(count: number): Promise<number[]> {
    const from = COUNTS_SECTION * this.#buffers.candidateCapacity;
    return [...(await this.words('contacts')).slice(from + 1, from + count)];
  }

  async control(): Promise<Record<string, number>> {
    return CONTROL.unpack(await this.read('control'));
  }

  close(): void {
    this.#reader.close();
    this.#buffers.close();
  }
}
