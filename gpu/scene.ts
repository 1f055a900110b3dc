import { IntersticeError } from '../src/contract/errors.js';
import type { Parameters } from '../src/contract/parameters.js';
import type { StageTimings } from '../src/contract/report.js';
import type { CollisionMesh } from '../src/mesh/types.js';
import { BeforeSteps } from '../src/solver/before-steps.js';
import type { EngineUnits, Resolution, Scene, StepInput } from '../src/solver/engine.js';
import { pairLimit } from '../src/solver/pair-budget.js';
import { type Settings, servesBoth, toSettings } from '../src/solver/settings.js';
import type { SceneDevice } from './device/live-device.js';
import type { DeviceMemory } from './device/memory.js';
import { Reader } from './device/readback.js';
import { STATE } from './kernels/constants.js';
import { CONTROL } from './kernels/structs.js';
import { SceneSearch, type SearchPlace } from './search/scene-search.js';
import { type ControlBlock, readFinalState, toResolution } from './step/answer.js';
import { type Batch, BatchRecorder, MAX_BATCH_STEPS, stepsPerBatch } from './step/batch.js';
import { Dispatcher } from './step/dispatcher.js';
import { type EdgePlan, planEdges } from './step/edge-plan.js';
import { Phases } from './step/phases.js';
import { runAfterPieces } from './step/pieces-first.js';
import { PullBackRecorder } from './step/pull-back-recorder.js';
import { StepRecorder } from './step/recorder.js';
import { isSame, sweepsOf, TAIL_ROWS, uploadParameters, uploadPositions } from './step/request.js';
import { SceneBuffers } from './step/scene-buffers.js';
import { ShownStates } from './step/shown-states.js';
import { addStamps } from './step/stage-clock.js';

/** Stamps in the pairs have 30 bits; when a request begins beyond half of them, the clock starts over with a new P. */
const CLOCK_LIMIT = 2 ** 29;

/** The control block before the first request. */
const NEW_CONTROL: ControlBlock = CONTROL.unpack(new ArrayBuffer(CONTROL.bytes));

/** Pairs that a scene has room for at first; the room grows with the demand. */
export const FIRST_PAIRS = 4096;

export type { SearchPlace };

/** What a scene has room for; tests set less. */
export interface SceneCapacity {
  /** bytes that the pairs of one request may take; default: as many as the engine can count */
  readonly maxPairBytes?: number | undefined;
  /** at first; default FIRST_PAIRS */
  readonly firstPairs?: number | undefined;
  /** candidates of a step, at first; default: what the memory of the pairs holds */
  readonly firstCandidates?: number | undefined;
}

/**
 * One mesh on the device. A resolve uploads a start and a target, records steps in batches and reads one status block per
 * batch while the next batch runs; the device takes every decision within a batch. Requests run one at a time.
 */
export class GpuScene implements Scene {
  readonly #device: SceneDevice;
  readonly #mesh: CollisionMesh;
  readonly #place: SearchPlace;
  #settings: Settings;
  /** settings of the last configure, until the next resolve begins */
  #nextSettings: Settings | undefined;
  readonly #before: BeforeSteps;
  #edges: EdgePlan;
  readonly #buffers: SceneBuffers;
  readonly #recorder: StepRecorder;
  readonly #pullBack: PullBackRecorder;
  readonly #phases: Phases;
  readonly #reader: Reader;
  readonly #batches: BatchRecorder;
  readonly #search: SceneSearch;
  /** float32[3·V] what x on the device holds, and whether that is known */
  readonly #residentX: Float32Array;
  #isResidentXKnown = false;
  /** P on the device is valid */
  #hasPairs = false;
  /** the control block that was read or written last */
  #control: ControlBlock = NEW_CONTROL;
  /** the largest number of contacts of any step so far */
  #mostContacts = 0;
  #isClosed = false;
  #isBusy = false;

  constructor(
    device: SceneDevice,
    mesh: CollisionMesh,
    settings: Settings,
    place: SearchPlace,
    { firstPairs = FIRST_PAIRS, firstCandidates, maxPairBytes }: SceneCapacity = {},
  ) {
    const { memory } = device;
    this.#device = device;
    this.#mesh = mesh;
    this.#settings = settings;
    this.#place = place;
    this.#before = new BeforeSteps(mesh, pairLimit(maxPairBytes));
    this.#residentX = new Float32Array(3 * mesh.vertexCount);
    this.#edges = planEdges(mesh, settings.sigma > 0);
    this.#buffers = new SceneBuffers(memory, mesh, this.#edges, firstPairs, firstCandidates);
    if (settings.pullBack) this.#buffers.reservePullBack();
    const dispatcher = new Dispatcher(device.kernels, this.#buffers);
    this.#recorder = new StepRecorder(dispatcher, this.#edges);
    this.#pullBack = new PullBackRecorder(dispatcher, this.#recorder, this.#edges);
    this.#reader = new Reader(memory);
    this.#search = new SceneSearch(memory, mesh, settings, this.#buffers, this.#reader, place, pairLimit(maxPairBytes));
    this.#batches = new BatchRecorder(
      memory,
      this.#buffers,
      { dispatcher, steps: this.#recorder, pullBack: this.#pullBack },
      this.#reader,
      mesh.vertexCount,
      device.hasTimings,
    );
    this.#phases = new Phases(this.#batches, this.#recorder, this.#pullBack, mesh.vertexCount);
  }

  /** The account of the scene's buffers. */
  get memory(): DeviceMemory {
    return this.#device.memory;
  }

  /** Dispatches of the step recorded last, with those of a search: what a step costs even where there is nothing to do. */
  get dispatchesPerStep(): number {
    return this.#batches.dispatchesPerStep;
  }

  /** Steps submitted since the scene was opened, including those in which the device found nothing to do. */
  get submittedSteps(): number {
    return this.#batches.submittedSteps;
  }

  /** Calls of mapAsync since the scene was opened. */
  get maps(): number {
    return this.#reader.maps;
  }

  get bytes(): number {
    return this.memory.bytes;
  }

  /**
   * @throws DEVICE_LOST when the device is lost; the caller opens the scene again
   * @throws TOO_LARGE when the proximity set does not fit; the scene stays usable
   * @throws OUT_OF_DEVICE_MEMORY when the pairs do not fit on the device; the caller closes the scene
   */
  async resolve(input: StepInput): Promise<Resolution> {
    if (this.#isClosed) throw new IntersticeError('INTERNAL', 'The scene was closed.');
    if (this.memory.isExhausted) {
      throw new IntersticeError('OUT_OF_DEVICE_MEMORY', 'The scene ran out of device memory earlier.');
    }
    if (this.#isBusy) throw new IntersticeError('INTERNAL', 'A scene resolves one request at a time.');
    this.#isBusy = true;
    try {
      this.#device.assertUsable();
      const resolution = await this.#device.waitFor(this.#run(input));
      this.#device.assertUsable();
      return resolution;
    } catch (thrown) {
      this.#isResidentXKnown = false;
      this.#hasPairs = false;
      // Steps may have run whose status was never read: their stamps in the pairs must differ from those of later steps.
      const { clock } = this.#control;
      this.#control = { ...NEW_CONTROL, clock: clock + 4 * MAX_BATCH_STEPS };
      throw thrown;
    } finally {
      this.#isBusy = false;
    }
  }

  configure(parameters: Parameters, units: EngineUnits): void {
    this.#nextSettings = toSettings(parameters, units);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#search.close();
    this.#batches.close();
    this.#reader.close();
    this.#buffers.close();
  }

  async #run(input: StepInput): Promise<Resolution> {
    await this.#applySettings();
    const settings = this.#settings;
    try {
      return await runAfterPieces(this.#before, settings, input, (stepLimit, rest) => {
        this.#settings = { ...settings, stepLimit };
        return this.#runOnDevice(rest);
      });
    } finally {
      this.#settings = settings;
    }
  }

  async #runOnDevice(input: StepInput): Promise<Resolution> {
    const timings: StageTimings = { search: 0, geometry: 0, backward: 0, forward: 0 };
    const began = performance.now();
    await this.#prepareSearch(input);
    const wasStopped = await this.#runSteps(this.#recordOpening(input), input, timings);
    // Without time stamps the stages of the device's time cannot be told apart.
    if (!this.#batches.isTimed) timings.forward += Math.max(0, 1000 * (performance.now() - began) - timings.search);
    return await this.#readAnswer(timings, wasStopped);
  }

  /** Applies the settings of the last configure. @throws OUT_OF_DEVICE_MEMORY when what they need does not fit on the device */
  async #applySettings(): Promise<void> {
    const next = this.#nextSettings;
    if (!next) return;
    const hasSameSearch = servesBoth(this.#settings, next);
    if (this.#settings.sigma > 0 !== next.sigma > 0) {
      const edges = planEdges(this.#mesh, next.sigma > 0);
      await this.memory.checkAllocations('the edge constraints', () => this.#buffers.replaceEdges(edges));
      this.#edges = edges;
      this.#recorder.useEdges(edges);
      this.#pullBack.useEdges(edges);
    }
    if (next.pullBack) await this.memory.checkAllocations('the pull-back', () => this.#buffers.reservePullBack());
    if (!hasSameSearch) {
      this.#hasPairs = false;
      this.#search.configure(next);
    }
    this.#settings = next;
    this.#nextSettings = undefined;
  }

  async #prepareSearch(input: StepInput): Promise<void> {
    const hadPairs = this.#hasPairs;
    // P counts as void until the search is ready: it may throw half way.
    this.#hasPairs = false;
    this.#hasPairs = (await this.#search.beginRequest(input)) && hadPairs;
  }

  /** Uploads a request and records what precedes its first step. */
  #recordOpening({ x: start, y: target }: StepInput): GPUCommandEncoder {
    const encoder = this.#newEncoder();
    const { queue } = this.memory.device;
    const isResident = this.#isResidentXKnown && isSame(this.#residentX, start);
    this.#isResidentXKnown = false;
    uploadPositions(queue, encoder, this.#buffers, { start, target, isResident });
    this.#phases.begin();
    this.#uploadParameters(start, target);
    const { clock, pairCount, radius } = this.#control;
    const isClockWorn = clock > CLOCK_LIMIT;
    if (isClockWorn) this.#hasPairs = false;
    this.#writeControl({ clock: isClockWorn ? 0 : clock, pairCount, radius, isReused: this.#hasPairs ? 1 : 0 });
    this.#batches.recordOpening(encoder);
    return encoder;
  }

  #uploadParameters(start: Float32Array, target: Float32Array): void {
    const { queue } = this.memory.device;
    const request = { start, target, waitsForSearch: this.#place === 'HOST', phase: this.#phases.phase };
    uploadParameters(queue, this.#buffers, this.#mesh, this.#settings, this.#edges, request);
  }

  /**
   * Submits batches of steps and reads their status until the run is over or the caller stops it.
   *
   * @param opening holds the opening of the request; the first batch is recorded behind it
   * @returns whether the caller stopped the run
   */
  async #runSteps(opening: GPUCommandEncoder, input: StepInput, timings: StageTimings): Promise<boolean> {
    const { runsAhead } = this.#device;
    // Every state is reported on its own: no step may run before the state of the last one is read.
    const isStepwise = !runsAhead || input.onState !== undefined;
    const states = new ShownStates((x) => input.onState?.(x));
    const maxInFlight = isStepwise || this.#place === 'HOST' ? 1 : 2;
    let encoder = opening;
    /** submitted, and their status not read yet; the oldest comes first */
    const inFlight: Batch[] = [];
    const discardAll = () => {
      for (const { reading } of inFlight.splice(0)) reading.discard();
    };
    const shouldStop = () => input.shouldStop?.() ?? false;
    for (;;) {
      const isStopped = shouldStop();
      const batchSteps = isStepwise ? 1 : stepsPerBatch(sweepsOf(this.#settings, this.#phases.phase));
      const count = isStopped ? 0 : Math.min(batchSteps, this.#stepsLeft(inFlight));
      // With no step to record, the status of the opening, or of the end of the run, is still to be read.
      if (count > 0 || inFlight.length === 0) {
        this.#phases.recordSteps(encoder, count, this.#settings, this.#mostContacts > TAIL_ROWS, this.#search.device);
        inFlight.push(this.#batches.submit(encoder, count, input.onState !== undefined));
        encoder = this.#newEncoder();
        if (count > 0 && inFlight.length < maxInFlight) continue;
      }
      let state = await this.#readStatus(inFlight.shift()!, input, states, timings);
      if (!isStopped && this.#phases.isArrivalDue(this.#control, this.#settings) && !shouldStop()) {
        discardAll();
        this.#batches.recordArrival(encoder);
        const batch = this.#batches.submit(encoder, 1, input.onState !== undefined);
        encoder = this.#newEncoder();
        state = await this.#readStatus(batch, input, states, timings);
      }
      if (isStopped || isFinal(state)) {
        discardAll();
        return isStopped;
      }
      if (state === STATE.RUNNING) continue;
      // The run has paused: the batches submitted after the pause did nothing.
      discardAll();
      if (state === STATE.NEEDS_PHASE) {
        states.dropWaiting();
        this.#openPhase(encoder, input);
        continue;
      }
      if (shouldStop()) return true;
      await this.#resume(state, encoder, timings);
    }
  }

  /** Does what a run has paused for, and records that it continues. @throws TOO_LARGE, OUT_OF_DEVICE_MEMORY */
  async #resume(state: number, encoder: GPUCommandEncoder, timings: StageTimings): Promise<void> {
    const paused = performance.now();
    const hadPairs = this.#hasPairs;
    this.#hasPairs = false;
    let control: ControlBlock;
    if (state === STATE.NEEDS_SEARCH) {
      control = await this.#search.searchOnHost(this.#control);
      this.#hasPairs = true;
    } else if (state === STATE.NEEDS_CANDIDATES) {
      control = await this.#search.growCandidates(this.#control);
      this.#hasPairs = hadPairs;
    } else {
      control = await this.#search.growPairs(this.#control);
    }
    this.#writeControl(control);
    timings.search += 1000 * (performance.now() - paused);
    this.#phases.resume(encoder, state, control);
  }

  #openPhase(encoder: GPUCommandEncoder, { x: start, y: target }: StepInput): void {
    this.#phases.open(encoder, this.#control, () => {
      this.#uploadParameters(start, target);
      this.#writeControl({ ...this.#control, state: STATE.RUNNING });
    });
  }

  #newEncoder(): GPUCommandEncoder {
    return this.memory.device.createCommandEncoder();
  }

  #writeControl(values: Partial<ControlBlock>): void {
    this.#control = { ...NEW_CONTROL, ...values };
    const { pairCapacity, candidateCapacity } = this.#buffers;
    const packed = CONTROL.pack({ ...values, pairCapacity, candidateCapacity });
    this.memory.device.queue.writeBuffer(this.#buffers.control, 0, packed);
  }

  /** Steps that the limit allows beyond those submitted: any more would only cost their dispatches. */
  #stepsLeft(inFlight: readonly Batch[]): number {
    return inFlight.reduce((left, { steps }) => left - steps, this.#settings.stepLimit - this.#control.steps);
  }

  /** Waits for the status of a batch, reports the steps that it has done, and returns the state of the run. */
  async #readStatus(batch: Batch, input: StepInput, states: ShownStates, timings: StageTimings): Promise<number> {
    const before = this.#control;
    const parts = await batch.reading.wait();
    const x = batch.withPositions ? parts.at(-1) : undefined;
    if (batch.stamped) addStamps(timings, batch.stamped.stages, parts[1]);
    // A device that refused a submission leaves the old status block: the run would never end.
    this.#device.assertUsable();
    this.#control = CONTROL.unpack(parts[0]);
    const { state, steps, searches, residual, unfinished, mostContacts } = this.#control;
    this.#mostContacts = Math.max(this.#mostContacts, mostContacts);
    if (state === STATE.NEEDS_ROOM) this.#hasPairs = false;
    else if (searches > before.searches) this.#hasPairs = true;
    if (steps > before.steps) {
      if (x) states.add(new Float32Array(x), this.#phases.phase, this.#control.bests > before.bests);
      input.onProgress?.({ steps, residual, unfinishedVertices: unfinished });
    }
    return state;
  }

  async #readAnswer(timings: StageTimings, wasStopped: boolean): Promise<Resolution> {
    const final = await readFinalState(this.memory, this.#buffers, this.#recorder, this.#reader, {
      vertexCount: this.#mesh.vertexCount,
      pairCount: this.#hasPairs ? this.#control.pairCount : 0,
      epsilon: this.#settings.epsilon,
      conclude: this.#phases.conclude,
    });
    this.#control = final.control;
    // A copy, because the caller may write to its positions; into memory that exists, because new memory costs more than
    // the copy.
    this.#residentX.set(final.positions);
    this.#isResidentXKnown = true;
    return toResolution({ ...final, timings, wasStopped, stepsBefore: this.#phases.stepsBefore });
  }
}

const isFinal = (state: number): boolean =>
  state === STATE.CONVERGED || state === STATE.STALLED || state === STATE.AT_STEP_LIMIT;
