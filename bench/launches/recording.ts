import { Arena } from '../../gpu/convoy/arena.js';
import { DispatchEncoder, type EncodePlan } from '../../gpu/convoy/encode.js';
import { openAdapter } from '../../gpu/device/adapter.js';
import { KernelSet } from '../../gpu/device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../../gpu/device/memory.js';
import { Reader } from '../../gpu/device/readback.js';
import { OwnRecording, SharedRecording } from '../../gpu/device/recording.js';
import { OwnSubmissions } from '../../gpu/device/submissions.js';
import { PHASE } from '../../gpu/kernels/constants.js';
import { STEP_STAGES, stepStagesWith } from '../../gpu/kernels/table.js';
import { DeviceSearch } from '../../gpu/search/device-search.js';
import { BatchRecorder } from '../../gpu/step/batch.js';
import { Dispatcher } from '../../gpu/step/dispatcher.js';
import { planEdges } from '../../gpu/step/edge-plan.js';
import { PullBackRecorder } from '../../gpu/step/pull-back-recorder.js';
import { StepRecorder } from '../../gpu/step/recorder.js';
import { SceneBuffers } from '../../gpu/step/scene-buffers.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { toSettings } from '../../src/solver/settings.js';
import { makeCases } from '../cases.js';
import { deviceOptions } from '../device.js';
import { spreadOf } from '../measure.js';
import { type EngineCase, prepare } from '../measure-engines.js';

const RUNS = 60;
/** The first runs create bind groups, and the compiler optimises the code. */
const WARM_UPS = 20;
const STEPS = 8;

export interface RecordingCost {
  readonly what: string;
  readonly dispatches: number;
  /** host time from the encoder to its command buffer */
  readonly microsecondsPerDispatch: number;
}

/** Scenes that record together. */
const SCENES = 64;
const WIDE = { rounds: 0, ordering: 0, threads: 0 };
const SHAPE = { sweeps: 1, slides: true, wide: WIDE };
const NO_SEARCH = { precedes: 'NONE', between: 'NONE', search: undefined } as const;

/** Measures the host's time to record steps of the example `layers`, which are not submitted: alone, and together. */
export async function measureRecording(): Promise<RecordingCost[]> {
  const { opened, reason } = await openAdapter(deviceOptions());
  if (!opened) throw new Error(`Recording cannot be measured: ${reason}`);
  try {
    const { device } = await opened.requestDevice();
    const costs: RecordingCost[] = [];
    for await (const subject of makeCases(['layers'], [], undefined)) {
      costs.push(...(await measureAlone(device, prepare(subject))));
    }
    // Scenes that submit together are small.
    for await (const subject of makeCases(['layers'], [1000], undefined)) {
      costs.push(await measureTogether(device, prepare(subject), opened.description.software));
    }
    return costs;
  } finally {
    await opened.close();
  }
}

async function measureAlone(device: GPUDevice, { mesh, parameters, units, x }: EngineCase): Promise<RecordingCost[]> {
  const kernels = await KernelSet.load(device, ...stepStagesWith(device.limits.maxStorageBuffersPerShaderStage));
  const settings = toSettings(parameters, units);
  const memory = new DeviceMemory(device, new MemoryBudget());
  const { buffers, batches, dispatcher } = openRecorder(memory, kernels, mesh);
  const search = await DeviceSearch.open(memory, mesh, settings, x, buffers);
  const record = (what: string, dispatchesIn: (recording: OwnRecording) => void, searches: number): RecordingCost => {
    const before = dispatcher.dispatches;
    const [runs, time] = measureRuns(() => {
      const recording = new OwnRecording(device, Number.POSITIVE_INFINITY);
      dispatchesIn(recording);
      recording.encoder.finish();
    });
    const dispatches = (dispatcher.dispatches - before) / runs + searches * search.dispatches;
    return { what, dispatches, microsecondsPerDispatch: (1000 * time) / dispatches };
  };
  const always = { precedes: 'SEARCH', between: 'SEARCH', search } as const;
  const how = { hasAim: true, continuesStep: false, roundsDone: 0, rounds: 1, showsPieces: false };
  const sweeps = settings.pullBack?.sweeps ?? 1;
  const pull = { phase: PHASE.PULL, sweeps, wide: WIDE, hasDenseEdges: false, isSmall: false };
  const costs = [
    record('steps', (recording) => batches.record(recording, STEPS, SHAPE, NO_SEARCH, false), 0),
    record('steps with searches', (recording) => batches.record(recording, STEPS, SHAPE, always, false), STEPS),
    record('a step of the pull-back', (recording) => batches.recordPullBack(recording, pull, NO_SEARCH, how), 0),
  ];
  search.destroy();
  batches.close();
  buffers.close();
  memory.freeAll();
  return costs;
}

/** The time of scenes that record the same steps, of the plan that merges them and of its encoding, by dispatch of a scene. */
async function measureTogether(device: GPUDevice, { mesh }: EngineCase, isSoftware: boolean): Promise<RecordingCost> {
  const kernels = await KernelSet.loadShared(device, ...STEP_STAGES);
  const memory = new DeviceMemory(device, new MemoryBudget());
  const encoder = new DispatchEncoder(memory, isSoftware);
  const arena = new Arena(memory.fork(), () => encoder.forget());
  const scenes = await memory.checkAllocations('scenes', () =>
    Array.from({ length: SCENES }, () => openRecorder(memory.fork(arena), kernels, mesh)),
  );
  const record = (): EncodePlan =>
    encoder.plan(
      scenes.map(({ batches }) => {
        const recording = new SharedRecording();
        batches.record(recording, STEPS, SHAPE, NO_SEARCH, false);
        return recording.pass.launches;
      }),
    );
  await encoder.reserve(record());
  const before = encoder.launches;
  const [runs, time] = measureRuns(() => {
    const plan = record();
    const commands = device.createCommandEncoder();
    encoder.encode(commands, plan);
    commands.finish();
  });
  const dispatches = (encoder.launches - before) / runs;
  for (const { batches, buffers } of scenes) {
    batches.close();
    buffers.close();
  }
  encoder.close();
  arena.close();
  return {
    what: `steps of ${SCENES} scenes together`,
    dispatches,
    microsecondsPerDispatch: (1000 * time) / dispatches,
  };
}

function openRecorder(memory: DeviceMemory, kernels: KernelSet, mesh: CollisionMesh) {
  const edges = planEdges(mesh, true);
  const buffers = new SceneBuffers(memory, mesh, edges, 4096);
  buffers.reservePullBack();
  const dispatcher = new Dispatcher(kernels, buffers);
  const steps = new StepRecorder(dispatcher, edges);
  const recorders = { dispatcher, steps, pullBack: new PullBackRecorder(dispatcher, steps, edges) };
  const submissions = new OwnSubmissions(memory, new Reader(memory));
  const batches = new BatchRecorder(memory, buffers, recorders, submissions, mesh.vertexCount, false);
  return { buffers, batches, dispatcher };
}

/** @returns the number of runs, and the median of their times in milliseconds */
function measureRuns(run: () => void): readonly [runs: number, median: number] {
  const times: number[] = [];
  for (let n = 0; n < RUNS; n++) {
    const since = performance.now();
    run();
    if (n >= WARM_UPS) times.push(performance.now() - since);
  }
  return [RUNS, spreadOf(times).median];
}
