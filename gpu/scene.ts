import { IntersticeError } from '../src/contract/errors.js';
import type { Parameters } from '../src/contract/parameters.js';
import type { StageTimings } from '../src/contract/report.js';
import type { CollisionMesh } from '../src/mesh/types.js';
import { type Settings, servesBoth, toSettings } from '../src/solver/settings.js';
import type { EngineUnits, Resolution, Scene, StepInput } from '../src/solver/types.js';
import type { KernelSet } from './device/kernel.js';
import type { DeviceMemory } from './device/memory.js';
import { Reader } from './device/readback.js';
import { STATE } from './kernels/constants.js';
import { CONTROL } from './kernels/structs.js';
import { SceneSearch, type SearchPlace } from './search/scene-search.js';
import { type ControlBlock, toResolution } from './step/answer.js';
import { type Batch, BatchRecorder } from './step/batch.js';
import { type EdgePlan, planEdges } from './step/edge-plan.js';
import { readFinalState } from './step/readback.js';
import { StepRecorder } from './step/recorder.js';
import { isSame, TAIL_ROWS } from './step/request.js';
import { SceneBuffers } from './step/scene-buffers.js';
import { addStamps } from './step/stage-clock.js';
import { uploadParameters, uploadRequest } from './step/upload.js';

/** Steps recorded between two looks at the status block. */
export const BATCH = 8;

/** Sweeps recorded between two looks, as long as one step has fewer: with many a step, time budgets need looks more often. */
const SWEEPS_TOGETHER = 32;

const stepsTogether = (sweeps: number): number => Math.max(1, Math.min(BATCH, Math.floor(SWEEPS_TOGETHER / sweeps)));

/** Stamps in the pairs have 30 bits; the clock starts again, with a new P, when a request begins beyond half of them. */
const CLOCK_LIMIT = 2 ** 29;

/** Room for this many pairs at first; grown to the demand. */
export const FIRST_PAIRS = 4096;

export type { SearchPlace };

/** Before the first request. */
const NEW_CONTROL: ControlBlock = CONTROL.unpack(new ArrayBuffer(CONTROL.bytes));

/** What a scene has room for at first; tests take less, to see it grow. */
export interface FirstRoom {
  /** default FIRST_PAIRS */
  readonly firstPairs?: number | undefined;
  /** candidates of a step; default what the memory of the pairs has room for */
  readonly firstCandidates?: number | undefined;
}

export interface SceneDevice {
  readonly memory: DeviceMemory;
  readonly kernels: KernelSet;
  /** the time of each stage is taken, where the device has time stamps */
  readonly hasTimings: boolean;
  /**
   * Steps are recorded in batches, and the next batch is submitted before the status of the last is known. Where a look at
   * the status costs more than a step it must be; where the device is this machine's own processor, every dispatch that
   * turns out to have nothing to do costs a tenth of a millisecond, and a look next to nothing.
   */
  readonly runsAhead: boolean;
  /** @throws DEVICE_LOST with the reason when the device is gone, or what it reported when it cannot be trusted */
  assertAlive(): void;
  /** Waits for work on the device; what fails because the device is gone is DEVICE_LOST, whatever failed first. */
  during<T>(work: Promise<T>): Promise<T>;
}

/**
 * One mesh on the device. A resolve uploads a start and a target, records steps in batches and reads one status block a
 * batch, while the next one runs; everything between is decided on the device. Requests run one at a time.
 */
export class GpuScene implements Scene {
  readonly #device: SceneDevice;
  readonly #mesh: CollisionMesh;
  readonly #place: SearchPlace;
  #settings: Settings;
  #edges: EdgePlan;
  readonly #buffers: SceneBuffers;
  readonly #recorder: StepRecorder;
  readonly #reader: Reader;
  readonly #batches: BatchRecorder;
  readonly #search: SceneSearch;
  /** what x on the device holds, when that is known */
  #resident: Float32Array | undefined;
  readonly #residentRoom: Float32Array;
  #hasPairs = false;
  /** what configure asked for, until the next resolve begins */
  #wantedSettings: Settings | undefined;
  #control: ControlBlock = NEW_CONTROL;
  #mostContacts = 0;
  /** the step to be recorded next was begun, and had no room for its candidates */
  #goesOn = false;
  #isClosed = false;
  #isBusy = false;

  constructor(
    device: SceneDevice,
    mesh: CollisionMesh,
    settings: Settings,
    place: SearchPlace,
    { firstPairs = FIRST_PAIRS, firstCandidates }: FirstRoom = {},
  ) {
    this.#device = device;
    this.#mesh = mesh;
    this.#settings = settings;
    this.#place = place;
    this.#residentRoom = new Float32Array(3 * mesh.vertexCount);
    this.#edges = planEdges(mesh, settings.sigma > 0);
    this.#buffers = new SceneBuffers(device.memory, mesh, this.#edges, firstPairs, firstCandidates);
    this.#recorder = new StepRecorder(device.kernels, this.#buffers, this.#edges);
    this.#reader = new Reader(device.memory);
    const { memory, hasTimings } = device;
    this.#search = new SceneSearch(memory, mesh, this.#buffers, this.#reader, place);
    this.#batches = new BatchRecorder(
      memory,
      this.#buffers,
      this.#recorder,
      this.#reader,
      mesh.vertexCount,
      hasTimings,
    );
  }

  /** Where the scene lives. */
  get memory(): DeviceMemory {
    return this.#device.memory;
  }

  /** Dispatches of the step recorded last, with those of a search: what a step costs even where there is nothing to do. */
  get dispatchesPerStep(): number {
    return this.#batches.dispatchesPerStep;
  }

  /** Steps that the device was given since the scene was opened, those that turned out to have nothing to do included. */
  get submittedSteps(): number {
    return this.#batches.submittedSteps;
  }

  /** Calls of mapAsync since the scene was opened. */
  get maps(): number {
    return this.#reader.maps;
  }

  /**
   * @throws DEVICE_LOST when the device goes away; the scene is then to be opened anew
   * @throws TOO_LARGE when the proximity set does not fit; the scene can be used on
   * @throws OUT_OF_DEVICE_MEMORY when the pairs do not fit on the device; the scene is then to be closed
   */
  async resolve(input: StepInput): Promise<Resolution> {
    if (this.#isClosed) throw new IntersticeError('INTERNAL', 'the scene was closed');
    if (this.#search.isBroken)
      throw new IntersticeError('OUT_OF_DEVICE_MEMORY', 'the scene ran out of device memory earlier');
    if (this.#isBusy) throw new IntersticeError('INTERNAL', 'a scene resolves one request at a time');
    this.#isBusy = true;
    try {
      this.#device.assertAlive();
      const resolution = await this.#device.during(this.#run(input));
      this.#device.assertAlive();
      return resolution;
    } catch (thrown) {
      this.#resident = undefined;
      this.#hasPairs = false;
      // Steps may have run of which nobody heard: their stamps in the pairs must not pass for those of steps to come.
      const { clock } = this.#control;
      this.#control = { ...NEW_CONTROL, clock: clock + 4 * BATCH };
      throw thrown;
    } finally {
      this.#isBusy = false;
    }
  }

  get bytes(): number {
    return this.memory.bytes;
  }

  configure(parameters: Parameters, units: EngineUnits): void {
    this.#wantedSettings = toSettings(parameters, units);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#search.close();
    this.#batches.close();
    this.#reader.close();
    this.#buffers.close();
  }

  /** Takes over what configure asked for. @throws OUT_OF_DEVICE_MEMORY when rows of edges do not fit on the device */
  async #reconfigure(): Promise<void> {
    const wanted = this.#wantedSettings;
    if (!wanted) return;
    const isSameSearch = servesBoth(this.#settings, wanted);
    const hadEdges = this.#settings.sigma > 0;
    if (hadEdges !== wanted.sigma > 0) {
      const edges = planEdges(this.#mesh, wanted.sigma > 0);
      await this.#search.withRoom('rows of the edge lengths', () => this.#buffers.replaceEdges(edges));
      this.#edges = edges;
      this.#recorder.useEdges(edges);
    }
    if (!isSameSearch) {
      this.#hasPairs = false;
      this.#search.configure(wanted);
    }
    this.#settings = wanted;
    this.#wantedSettings = undefined;
  }

  async #run(input: StepInput): Promise<Resolution> {
    const timings: StageTimings = { search: 0, geometry: 0, backward: 0, forward: 0 };
    const began = performance.now();
    await this.#reconfigure();
    const hadPairs = this.#hasPairs;
    // Not known to be good until it is asked for: the search may throw half way.
    this.#hasPairs = false;
    this.#hasPairs = (await this.#search.beginRequest(this.#settings, input)) && hadPairs;
    this.#goesOn = false;
    let encoder = this.#begin(input.x, input.y);
    const { runsAhead } = this.#device;
    const batch = runsAhead && input.onState === undefined ? stepsTogether(this.#settings.sweeps) : 1;
    const mostUnderWay = runsAhead && this.#place === 'DEVICE' && input.onState === undefined ? 2 : 1;
    /** submitted and not looked at, oldest first */
    let underWay: Batch[] = [];
    let wasStopped = false;
    for (;;) {
      wasStopped = input.shouldStop?.() ?? false;
      const count = wasStopped ? 0 : Math.min(batch, this.#stepsLeft(underWay));
      // With no step to record there is still the opening of the request, or what it has come to, to look at.
      if (count > 0 || underWay.length === 0) {
        this.#recordSteps(encoder, count);
        underWay.push(this.#batches.submit(encoder, count, input.onState !== undefined));
        encoder = this.#newEncoder();
        if (count > 0 && underWay.length < mostUnderWay) continue;
      }
      const isOver = await this.#takeStatus(underWay.shift()!, input, timings);
      if (wasStopped || isOver) break;
      const { state } = this.#control;
      if (state === STATE.RUNNING) continue;
      // Paused: what was recorded ahead did nothing.
      for (const { reading } of underWay) reading.discard();
      underWay = [];
      wasStopped = input.shouldStop?.() ?? false;
      if (wasStopped) break;
      const paused = performance.now();
      this.#goesOn = state === STATE.NEEDS_CANDIDATES;
      this.#writeControl(await this.#unpause(state));
      timings.search += 1000 * (performance.now() - paused);
      this.#pass(encoder, (pass) => this.#recorder.arm(pass));
    }
    for (const { reading } of underWay) reading.discard();
    // Without time stamps nobody knows how the device's time divides.
    if (!this.#batches.isTimed) timings.forward += Math.max(0, 1000 * (performance.now() - began) - timings.search);
    return await this.#answer(timings, wasStopped);
  }

  /** Does what a run has paused for; the control block to go on with. @throws TOO_LARGE, OUT_OF_DEVICE_MEMORY */
  async #unpause(state: number): Promise<ControlBlock> {
    const hadPairs = this.#hasPairs;
    this.#hasPairs = false;
    let control: ControlBlock;
    if (state === STATE.NEEDS_SEARCH) {
      control = await this.#search.searchOnHost(this.#control, this.#settings);
      this.#hasPairs = true;
    } else if (state === STATE.NEEDS_CANDIDATES) {
      control = await this.#search.makeRoomForCandidates(this.#control);
      this.#hasPairs = hadPairs;
    } else control = await this.#search.makeRoom(this.#control);
    return control;
  }

  #newEncoder(): GPUCommandEncoder {
    return this.#device.memory.device.createCommandEncoder();
  }

  #pass(encoder: GPUCommandEncoder, record: (pass: GPUComputePassEncoder) => void): void {
    const pass = encoder.beginComputePass();
    record(pass);
    pass.end();
  }

  /** Uploads a request and records its opening. */
  #begin(start: Float32Array, target: Float32Array): GPUCommandEncoder {
    const encoder = this.#newEncoder();
    const isResident = this.#resident !== undefined && isSame(this.#resident, start);
    this.#resident = undefined;
    uploadRequest(this.#device.memory.device.queue, encoder, this.#buffers, { start, target, isResident });
    const isHost = this.#place === 'HOST';
    uploadParameters(this.#device.memory.device.queue, this.#buffers, this.#mesh, this.#settings, this.#edges, {
      start,
      isHost,
    });
    const { clock, pairCount, radius } = this.#control;
    const isWorn = clock > CLOCK_LIMIT;
    if (isWorn) this.#hasPairs = false;
    this.#writeControl({ clock: isWorn ? 0 : clock, pairCount, radius, isReused: this.#hasPairs ? 1 : 0 });
    this.#batches.recordOpening(encoder);
    return encoder;
  }

  #writeControl(values: Partial<ControlBlock>): void {
    this.#control = { ...NEW_CONTROL, ...values };
    const { pairCapacity, candidateCapacity } = this.#buffers;
    const packed = CONTROL.pack({ ...values, pairCapacity, candidateCapacity });
    this.#device.memory.device.queue.writeBuffer(this.#buffers.control, 0, packed);
  }

  /** Steps that the limit leaves beyond those that were submitted: any more would do nothing, at the cost of their dispatches. */
  #stepsLeft(underWay: readonly Batch[]): number {
    return underWay.reduce((left, { steps }) => left - steps, this.#settings.stepLimit - this.#control.steps);
  }

  #recordSteps(encoder: GPUCommandEncoder, count: number): void {
    if (count === 0) return;
    const { sweeps, forward } = this.#settings;
    const shape = { sweeps, slides: forward === 'PLANAR', isWide: this.#mostContacts > TAIL_ROWS };
    this.#batches.record(encoder, count, shape, this.#search.onDevice, this.#goesOn);
    this.#goesOn = false;
  }

  /** Waits for a status block and tells the caller of the steps that it reports; true = the run is over. */
  async #takeStatus(batch: Batch, input: StepInput, timings: StageTimings): Promise<boolean> {
    const before = this.#control;
    const parts = await batch.reading.wait();
    const block = parts[0];
    const x = batch.withPositions ? parts.at(-1) : undefined;
    if (batch.stamped) addStamps(timings, batch.stamped.stages, parts[1]);
    // A device that refused a submission leaves the old status block: the run would never end.
    this.#device.assertAlive();
    this.#control = CONTROL.unpack(block);
    const { state, steps, searches, residual, unfinished, mostContacts } = this.#control;
    this.#mostContacts = Math.max(this.#mostContacts, mostContacts);
    if (state === STATE.NEEDS_ROOM) this.#hasPairs = false;
    else if (searches > before.searches) this.#hasPairs = true;
    if (steps > before.steps) {
      if (x) input.onState?.(new Float32Array(x));
      input.onProgress?.({ steps, residual, unfinishedVertices: unfinished });
    }
    return state === STATE.CONVERGED || state === STATE.STALLED || state === STATE.AT_STEP_LIMIT;
  }

  async #answer(timings: StageTimings, wasStopped: boolean): Promise<Resolution> {
    const final = await readFinalState(this.#device.memory, this.#buffers, this.#recorder, this.#reader, {
      vertexCount: this.#mesh.vertexCount,
      pairCount: this.#hasPairs ? this.#control.pairCount : 0,
      epsilon: this.#settings.epsilon,
    });
    this.#control = final.control;
    // A copy, for the caller may write to what it gets; into memory of its own, for new memory costs more than the copy.
    this.#resident = this.#residentRoom;
    this.#resident.set(final.positions);
    return toResolution({ ...final, timings, wasStopped });
  }
}
