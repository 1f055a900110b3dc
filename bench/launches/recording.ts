import { openAdapter } from '../../gpu/device/adapter.js';
import { KernelSet } from '../../gpu/device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../../gpu/device/memory.js';
import { Reader } from '../../gpu/device/readback.js';
import { OwnRecording } from '../../gpu/device/recording.js';
import { OwnSubmissions } from '../../gpu/device/submissions.js';
import { PHASE } from '../../gpu/kernels/constants.js';
import { stepStagesWith } from '../../gpu/kernels/table.js';
import { DeviceSearch } from '../../gpu/search/device-search.js';
import { BatchRecorder } from '../../gpu/step/batch.js';
import { Dispatcher } from '../../gpu/step/dispatcher.js';
import { planEdges } from '../../gpu/step/edge-plan.js';
import { PullBackRecorder } from '../../gpu/step/pull-back-recorder.js';
import { StepRecorder } from '../../gpu/step/recorder.js';
import { SceneBuffers } from '../../gpu/step/scene-buffers.js';
import { toSettings } from '../../src/solver/settings.js';
import { makeCases } from '../cases.js';
import { spreadOf } from '../measure.js';
import { prepare } from '../measure-engines.js';

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

/** Measures the host's time to record steps of the example `layers`, which are not submitted. */
export async function measureRecording(): Promise<RecordingCost[]> {
  const { opened, reason } = await openAdapter({ allowSoftware: true, skipValidation: true });
  if (!opened) throw new Error(`Recording cannot be measured: ${reason}`);
  try {
    const { device } = await opened.requestDevice();
    const kernels = await KernelSet.load(device, ...stepStagesWith(device.limits.maxStorageBuffersPerShaderStage));
    const costs: RecordingCost[] = [];
    for await (const subject of makeCases(['layers'], [], undefined)) {
      const { mesh, parameters, units, x } = prepare(subject);
      const settings = toSettings(parameters, units);
      const memory = new DeviceMemory(device, new MemoryBudget());
      const edges = planEdges(mesh, true);
      const buffers = new SceneBuffers(memory, mesh, edges, 4096);
      buffers.reservePullBack();
      const dispatcher = new Dispatcher(kernels, buffers);
      const steps = new StepRecorder(dispatcher, edges);
      const pullBack = new PullBackRecorder(dispatcher, steps, edges);
      const recorders = { dispatcher, steps, pullBack };
      const batches = new BatchRecorder(
        memory,
        buffers,
        recorders,
        new OwnSubmissions(memory, new Reader(memory)),
        mesh.vertexCount,
        false,
      );
      const search = await DeviceSearch.open(memory, mesh, settings, x, buffers);
      const sweeps = settings.pullBack?.sweeps ?? 1;
      const record = (what: string, dispatchesIn: (recording: OwnRecording) => void, searches: number): void => {
        const times: number[] = [];
        let dispatches = 0;
        for (let n = 0; n < RUNS; n++) {
          const before = dispatcher.dispatches;
          const since = performance.now();
          const recording = new OwnRecording(device, Number.POSITIVE_INFINITY);
          dispatchesIn(recording);
          recording.encoder.finish();
          dispatches = dispatcher.dispatches - before + searches * search.dispatches;
          if (n >= WARM_UPS) times.push((1000 * (performance.now() - since)) / dispatches);
        }
        costs.push({ what, dispatches, microsecondsPerDispatch: spreadOf(times).median });
      };
      const none = { precedes: 'NONE', between: 'NONE', search: undefined } as const;
      const always = { precedes: 'SEARCH', between: 'SEARCH', search } as const;
      const wide = { rounds: 0, threads: 0 };
      const shape = { sweeps: 1, slides: true, wide };
      record('steps', (recording) => batches.record(recording, STEPS, shape, none, false), 0);
      record('steps with searches', (recording) => batches.record(recording, STEPS, shape, always, false), STEPS);
      const how = { hasAim: true, continuesStep: false, sweepsOn: false };
      const pull = { phase: PHASE.PULL, sweeps, wide, hasDenseEdges: false, isSmall: false };
      record('a step of the pull-back', (recording) => batches.recordPullBack(recording, 1, pull, none, how), 0);
      search.destroy();
      batches.close();
      buffers.close();
    }
    return costs;
  } finally {
    await opened.close();
  }
}
