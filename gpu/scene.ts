import { IntersticeError } from '../src/contract/errors.js';
import type { Parameters } from '../src/contract/parameters.js';
import type { StageTimings } from '../src/contract/report.js';
import type { CollisionMesh } from '../src/mesh/types.js';
import { BeforeSteps } from '../src/solver/before-steps.js';
import type { EngineUnits, Resolution, Scene, StepInput } from '../src/solver/engine.js';
import { pairLimit } from '../src/solver/pair-budget.js';
import type { SavedDeviceScene, SavedScene } from '../src/solver/saved-scene.js';
import { type Settings, servesBoth, toSettings } from '../src/solver/settings.js';
import { strainElementsOf } from '../src/solver/strain/elements.js';
import { countUnserved } from '../src/solver/unserved-limits.js';
import type { DeviceMemory } from './device/memory.js';
import { Reader } from './device/readback.js';
import type { Recording } from './device/recording.js';
import type { SceneDevice } from './device/scene-device.js';
import { OwnSubmissions, type Submissions } from './device/submissions.js';
import { type HostPart, readScene, writePairs } from './saved-scene.js';
import { SceneSearch, type SearchPlace } from './search/scene-search.js';
import { readFinalState, toResolution } from './step/answer.js';
import { BatchRecorder } from './step/batch.js';
import { Dispatcher } from './step/dispatcher.js';
import { type EdgePlan, planEdges } from './step/edge-plan.js';
import { HoldReader } from './step/hold-reader.js';
import { Phases } from './step/phases.js';
import { runAfterPieces } from './step/pieces-first.js';
import { PullBackRecorder } from './step/pull-back-recorder.js';
import { StepRecorder } from './step/recorder.js';
import { isSame, uploadParameters, uploadPositions } from './step/request.js';
import { LARGEST_PAIR_BYTES, SceneBuffers } from './step/scene-buffers.js';
import { StepLoop } from './step/step-loop.js';

/** Initial capacity of a scene in pairs: a minimum, and a number per contact vertex; it grows with the demand. */
const FIRST_PAIRS = 4096;
const FIRST_PAIRS_PER_VERTEX = 16;

const firstPairsOf = ({ contactVertices }: CollisionMesh): number =>
  Math.max(FIRST_PAIRS, FIRST_PAIRS_PER_VERTEX * contactVertices.length);

export type { SearchPlace };

/** The values with which a scene was opened or last configured. */
type PresentParameters = Pick<SavedScene, 'parameters' | 'units'>;

/** Capacities of a scene; tests set less. */
export interface SceneCapacity {
  /** bytes that the pairs of one request may take; default: as many as the engine can count */
  readonly maxPairBytes?: number | undefined;
  /** at first; default by the number of vertices */
  readonly firstPairs?: number | undefined;
  /** candidates of a step, at first; default: what the memory of the pairs holds */
  readonly firstCandidates?: number | undefined;
}

/**
 * One mesh on the device. A resolve uploads a start and a target, records steps in batches and reads one status block
 * per batch while the next batch runs; the device takes every decision within a batch. Requests run one at a time.
 */
export class GpuScene implements Scene {
  readonly #device: SceneDevice;
  readonly #mesh: CollisionMesh;
  readonly #place: SearchPlace;
  #settings: Settings;
  #present: PresentParameters;
  /** settings of the last configure, until the next resolve begins */
  #nextSettings: Settings | undefined;
  readonly #before: BeforeSteps;
  #edges: EdgePlan;
  readonly #buffers: SceneBuffers;
  readonly #recorder: StepRecorder;
  readonly #pullBack: PullBackRecorder;
  readonly #phases: Phases;
  readonly #reader: Reader;
  readonly #submissions: Submissions;
  readonly #batches: BatchRecorder;
  readonly #search: SceneSearch;
  /** float32[3·V] the contents of x on the device, and whether they are known */
  readonly #residentX: Float32Array;
  #isResidentXKnown = false;
  readonly #loop: StepLoop;
  #isClosed = false;
  #isBusy = false;

  constructor(
    device: SceneDevice,
    mesh: CollisionMesh,
    present: PresentParameters,
    place: SearchPlace,
    { firstPairs, firstCandidates, maxPairBytes }: SceneCapacity = {},
  ) {
    const { memory } = device;
    this.#device = device;
    this.#mesh = mesh;
    const settings = toSettings(present.parameters, present.units);
    this.#settings = settings;
    this.#present = present;
    this.#place = place;
    this.#before = new BeforeSteps(mesh, pairLimit(maxPairBytes));
    this.#residentX = new Float32Array(3 * mesh.vertexCount);
    this.#edges = planEdges(mesh, settings.sigma > 0);
    const most = Math.min(pairLimit(maxPairBytes), Math.floor(memory.largestBinding / LARGEST_PAIR_BYTES));
    const pairs = firstPairs ?? Math.min(most, firstPairsOf(mesh));
    this.#buffers = new SceneBuffers(memory, mesh, this.#edges, pairs, firstCandidates);
    const strains = strainElementsOf(mesh, settings.scale);
    if (settings.pullBack) this.#buffers.reservePullBack(strains);
    const dispatcher = new Dispatcher(device.kernels, this.#buffers);
    this.#recorder = new StepRecorder(dispatcher, this.#edges, mesh.vertexCount);
    if (this.#recorder.canListEdges) this.#buffers.reserveEdgeLists();
    this.#pullBack = new PullBackRecorder(dispatcher, this.#recorder, this.#edges, strains);
    this.#reader = new Reader(memory);
    this.#submissions = device.convoy?.seat ?? new OwnSubmissions(memory, this.#reader);
    this.#search = new SceneSearch(device, mesh, settings, this.#buffers, this.#reader, place, pairLimit(maxPairBytes));
    this.#batches = new BatchRecorder(
      memory,
      this.#buffers,
      { dispatcher, steps: this.#recorder, pullBack: this.#pullBack },
      this.#submissions,
      mesh.vertexCount,
      device.hasTimings,
    );
    this.#phases = new Phases(this.#batches, this.#recorder, this.#pullBack, mesh.vertexCount);
    this.#loop = new StepLoop({
      ...{ device, place, buffers: this.#buffers, search: this.#search, batches: this.#batches, phases: this.#phases },
      submissions: this.#submissions,
      vertexCount: mesh.vertexCount,
    });
  }

  /** The account of the scene's buffers. */
  get memory(): DeviceMemory {
    return this.#device.memory;
  }

  /**
   * Dispatches of the step recorded last, without those of a search: the cost of a step even if it has nothing to do.
   */
  get dispatchesPerStep(): number {
    return this.#batches.dispatchesPerStep;
  }

  /** Steps submitted since the scene was opened, including those in which the device found nothing to do. */
  get submittedSteps(): number {
    return this.#batches.submittedSteps;
  }

  /** Largest number of turns that one workgroup took over the contacts of a sweep in the last request. */
  get mostTurns(): number {
    return this.#loop.control.mostTurns;
  }

  /** Calls of mapAsync since the scene was opened. */
  get maps(): number {
    return this.#reader.maps;
  }

  /** Bytes that the host has read since the scene was opened. */
  get readBytes(): number {
    return this.#reader.bytes;
  }

  get bytes(): number {
    return this.memory.bytes;
  }

  get isShared(): boolean {
    return this.#device.convoy !== undefined;
  }

  get isUsable(): boolean {
    try {
      this.#device.assertUsable();
      return true;
    } catch {
      return false;
    }
  }

  /**
   * @throws DEVICE_LOST when the device is lost; the caller opens the scene again
   * @throws TOO_LARGE when the proximity set does not fit; the scene stays usable
   * @throws OUT_OF_DEVICE_MEMORY when the pairs do not fit on the device; the caller closes the scene
   */
  async resolve(input: StepInput): Promise<Resolution> {
    this.#begin();
    try {
      const resolution = await this.#device.waitFor(this.#run(input));
      this.#device.assertUsable();
      return resolution;
    } catch (thrown) {
      this.#isResidentXKnown = false;
      this.#loop.reset();
      throw thrown;
    } finally {
      this.#isBusy = false;
    }
  }

  configure(parameters: Parameters, units: EngineUnits): void {
    this.#present = { parameters, units };
    this.#nextSettings = toSettings(parameters, units);
  }

  /** @throws OUT_OF_DEVICE_MEMORY if there is no room for the copies; INTERNAL while a request runs; DEVICE_LOST */
  async read(): Promise<SavedScene> {
    this.#begin();
    try {
      const { clock } = this.#loop.control;
      const scene = { ...this.#present, step: clock, proximity: undefined };
      const { orderedAt, device } = this.#search;
      if (!orderedAt || !device) return scene;
      const host = {
        orderedAt,
        excluded: device.excluded,
        vertexCount: this.#mesh.vertexCount,
        pairs: this.#validPairs,
      };
      const read = await this.#device.waitFor(readScene(this.memory, this.#buffers, host));
      this.#device.assertUsable();
      return { ...scene, device: read };
    } finally {
      this.#isBusy = false;
    }
  }

  /**
   * Restores the data that {@link read} has read from a scene of the same mesh, parameters and units, before the first
   * request. The scene must have been created with the same capacity for pairs.
   *
   * @param clock number of steps that the scene had made
   * @throws OUT_OF_DEVICE_MEMORY
   */
  async restore(clock: number, saved: SavedDeviceScene): Promise<void> {
    const buffers = this.#buffers;
    const { pairs } = saved;
    const count = pairs?.info.length;
    await this.memory.checkAllocations('the scene', () => buffers.reserveCandidates(saved.candidateCapacity));
    await this.#search.restore(saved, count);
    if (pairs) writePairs(this.memory.device, buffers, pairs);
    this.#loop.adopt(clock, pairs && { count: count!, radius: pairs.radius });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#search.close();
    this.#batches.close();
    this.#reader.close();
    this.#buffers.close();
    // The account belongs to this scene alone, so anything that a failed request has left in it belongs to the scene
    // too.
    this.memory.freeAll();
  }

  /** @throws if the scene cannot be used now; otherwise it is busy */
  #begin(): void {
    if (this.#isClosed) throw new IntersticeError('INTERNAL', 'The scene was closed.');
    if (this.memory.isExhausted) {
      throw new IntersticeError('OUT_OF_DEVICE_MEMORY', 'The scene ran out of device memory earlier.');
    }
    if (this.#isBusy) throw new IntersticeError('INTERNAL', 'A scene resolves one request at a time.');
    this.#device.assertUsable();
    this.#isBusy = true;
  }

  /**
   * P between two requests; undefined = it is invalid, possibly because of parameters that take effect with the next
   * request.
   */
  get #validPairs(): HostPart['pairs'] {
    const next = this.#nextSettings;
    if (!this.#loop.hasPairs || (next && !servesBoth(this.#settings, next))) return undefined;
    const { pairCount, radius } = this.#loop.control;
    return { count: pairCount, radius };
  }

  async #run(input: StepInput): Promise<Resolution> {
    await this.#applySettings();
    const settings = this.#settings;
    try {
      return await runAfterPieces(this.#before, settings, input, (stepLimit, rest) => {
        this.#settings = { ...settings, stepLimit };
        const run = () => this.#runOnDevice(rest);
        return this.#device.convoy ? this.#device.convoy.during(run) : run();
      });
    } finally {
      this.#settings = settings;
    }
  }

  async #runOnDevice(request: StepInput): Promise<Resolution> {
    const timings: StageTimings = { search: 0, geometry: 0, backward: 0, forward: 0 };
    const began = performance.now();
    // What the caller does with states is no time of a stage.
    let inCaller = 0;
    const { onState } = request;
    const watched: StepInput['onState'] = (...state) => {
      const before = performance.now();
      onState?.(...state);
      inCaller += performance.now() - before;
    };
    const input = onState ? { ...request, onState: watched } : request;
    await this.#prepareSearch(input);
    if (input.onState) {
      await this.memory.checkAllocations('the states of a path', () => this.#buffers.reservePieces());
    }
    const rows = { mesh: this.#mesh, scale: this.#settings.scale };
    const holds = input.recordsHolds
      ? await HoldReader.open(this.memory, this.#buffers, this.#reader, rows)
      : undefined;
    const wasStopped = await this.#loop.run(this.#recordOpening(input), {
      input,
      holds,
      settings: this.#settings,
      timings,
      upload: () => this.#uploadParameters(input),
    });
    // Without time stamps the time of the device cannot be divided into stages.
    if (!this.#batches.isTimed) timings.forward += 1000 * (performance.now() - began - inCaller) - timings.search;
    return { ...(await this.#readAnswer(input, timings, wasStopped)), ...(holds ? { holds: holds.holds } : {}) };
  }

  /**
   * Applies the settings of the last configure.
   *
   * @throws OUT_OF_DEVICE_MEMORY if their buffers do not fit on the device
   */
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
      if (this.#recorder.canListEdges) {
        await this.memory.checkAllocations('the lists of edges', () => this.#buffers.reserveEdgeLists());
      }
    }
    if (next.pullBack) {
      const strains = strainElementsOf(this.#mesh, next.scale);
      await this.memory.checkAllocations('the pull-back', () => this.#buffers.reservePullBack(strains));
    }
    if (!hasSameSearch) {
      this.#loop.hasPairs = false;
      this.#search.configure(next);
    }
    this.#settings = next;
    this.#nextSettings = undefined;
  }

  async #prepareSearch(input: StepInput): Promise<void> {
    const hadPairs = this.#loop.hasPairs;
    // P counts as invalid until the search is ready, because the search may throw halfway through.
    this.#loop.hasPairs = false;
    this.#loop.hasPairs = (await this.#search.beginRequest(input)) && hadPairs;
  }

  /** Uploads a request and records the work before its first step. */
  #recordOpening(input: StepInput): Recording {
    const { x: start, y: target } = input;
    const encoder = this.#newEncoder();
    const { queue } = this.memory.device;
    const isResident = this.#isResidentXKnown && isSame(this.#residentX, start);
    this.#isResidentXKnown = false;
    uploadPositions(queue, encoder, this.#buffers, { start, target, isResident });
    this.#phases.begin(input.recordsHolds === true);
    this.#loop.begin(this.#uploadParameters(input));
    this.#batches.recordOpening(encoder, this.#loop.hasPairs);
    return encoder;
  }

  /** @returns whether the pull-back may follow at once */
  #uploadParameters({ x: start, y: target }: StepInput): boolean {
    const { queue } = this.memory.device;
    const request = { start, target, waitsForSearch: this.#place === 'HOST', phase: this.#phases.phase };
    return uploadParameters(queue, this.#buffers, this.#mesh, this.#settings, this.#edges, request);
  }

  #newEncoder(): Recording {
    return this.#submissions.begin();
  }

  async #readAnswer({ y: target }: StepInput, timings: StageTimings, wasStopped: boolean): Promise<Resolution> {
    const final = await readFinalState(this.#buffers, this.#recorder, this.#reader, {
      submissions: this.#submissions,
      mesh: this.#mesh,
      control: this.#loop.control,
      pairCount: this.#loop.hasPairs ? this.#loop.control.pairCount : 0,
      epsilon: this.#settings.epsilon,
      conclude: this.#phases.conclude,
    });
    this.#loop.settle(final.control);
    // A copy, because the caller may write to its positions; into memory that exists, because new memory costs more
    // than the copy.
    this.#residentX.set(final.positions);
    this.#isResidentXKnown = true;
    const { stepsBefore, wasCut } = this.#phases;
    const resolution = toResolution({ ...final, timings, wasStopped, stepsBefore, wasCut });
    return countUnserved(resolution, { mesh: this.#mesh, settings: this.#settings, target });
  }
}
