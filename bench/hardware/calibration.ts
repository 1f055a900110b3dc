import { openAdapter } from '../../gpu/device/adapter.js';
import { BUFFER_USAGE, MAP_MODE, SHADER_STAGE } from '../../gpu/device/flags.js';
import { deviceOptions } from '../device.js';
import { spreadOf } from '../measure.js';
import type { Outcome } from './items.js';

const { STORAGE, COPY_SRC, COPY_DST, MAP_READ, INDIRECT } = BUFFER_USAGE;

/**
 * One thread that depends on the previous dispatch; the same as turns of one workgroup, like those of a sweep; a copy.
 */
const KERNELS = `
@group(0) @binding(0) var<storage, read> source: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> goal: array<vec4f>;
@compute @workgroup_size(1) fn once() { goal[0] += source[0]; }
@compute @workgroup_size(256) fn turns(@builtin(local_invocation_index) i: u32) {
  for (var n = 0u; n < TURNS; n++) {
    goal[(i + n) % 256u] += source[i];
    storageBarrier();
  }
}
@compute @workgroup_size(256) fn copy(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) i: u32) {
  let at = (group.y * groups.x + group.x) * 256u + i;
  goal[at] = source[at];
}`;

const TURNS = 1000;
/** Dispatches of the shorter and of the longer run: their difference does not contain the cost of a submission. */
const FEW = 500;
const MANY = 2500;
const REPEATS = 7;
/** Bytes that the copy reads, and that it writes. */
const COPIED = 2 ** 26;
const COPIES = 4;

/**
 * Milliseconds of work before anything is measured: an idle card runs at a fraction of its clock, and takes a while to
 * raise it.
 */
const RAISING_MS = 1500;

const medianOf = async (measure: () => Promise<number>): Promise<number> => {
  const values: number[] = [];
  for (let n = 0; n < REPEATS; n++) values.push(await measure());
  return spreadOf(values).median;
};

/**
 * Measures the cost of launches, turns, round trips and bytes on the adapter: all other figures follow from these and
 * from counts.
 *
 * @throws Error with the reason if there is no adapter
 */
export async function calibrate(): Promise<Outcome> {
  const { opened, reason } = await openAdapter(deviceOptions());
  if (!opened) throw new Error(reason);
  try {
    return await calibrateOn((await opened.requestDevice()).device);
  } finally {
    await opened.close();
  }
}

async function calibrateOn(device: GPUDevice): Promise<Outcome> {
  const owned: GPUBuffer[] = [];
  const buffer = (size: number, usage: number): GPUBuffer => {
    const made = device.createBuffer({ size, usage });
    owned.push(made);
    return made;
  };
  try {
    const module = device.createShaderModule({ code: KERNELS.replaceAll('TURNS', `${TURNS}u`) });
    const source = buffer(COPIED, STORAGE | COPY_SRC | COPY_DST);
    const goal = buffer(COPIED, STORAGE | COPY_SRC);
    const sizes = buffer(24, INDIRECT | COPY_DST);
    device.queue.writeBuffer(sizes, 12, Uint32Array.of(1, 1, 1));
    const staging = buffer(COPIED / 4, MAP_READ | COPY_DST);
    const layout = device.createBindGroupLayout({
      entries: [
        { binding: 0, visibility: SHADER_STAGE.COMPUTE, buffer: { type: 'read-only-storage' } },
        { binding: 1, visibility: SHADER_STAGE.COMPUTE, buffer: { type: 'storage' } },
      ],
    });
    const group = device.createBindGroup({
      layout,
      entries: [
        { binding: 0, resource: { buffer: source } },
        { binding: 1, resource: { buffer: goal } },
      ],
    });
    const pipelineLayout = device.createPipelineLayout({ bindGroupLayouts: [layout] });
    const pipelineOf = (entryPoint: string): GPUComputePipeline =>
      device.createComputePipeline({ layout: pipelineLayout, compute: { module, entryPoint } });
    const [once, turns, copy] = ['once', 'turns', 'copy'].map(pipelineOf);
    let recording = 0;
    /** ms from submission to its end */
    const timed = async (pipeline: GPUComputePipeline, record: (pass: GPUComputePassEncoder) => void) => {
      const began = performance.now();
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      record(pass);
      pass.end();
      const commands = encoder.finish();
      const since = performance.now();
      recording = since - began;
      device.queue.submit([commands]);
      await device.queue.onSubmittedWorkDone();
      return performance.now() - since;
    };
    const launches = (count: number, offset: number | undefined) =>
      medianOf(() =>
        timed(once, (pass) => {
          for (let n = 0; n < count; n++) {
            if (offset === undefined) pass.dispatchWorkgroups(1);
            else pass.dispatchWorkgroupsIndirect(sizes, offset);
          }
        }),
      );
    const copyAll = (pass: GPUComputePassEncoder): void => {
      for (let n = 0; n < COPIES; n++) pass.dispatchWorkgroups(2 ** 10, COPIED / 16 / 256 / 2 ** 10);
    };
    for (const began = performance.now(); performance.now() - began < RAISING_MS; ) await timed(copy, copyAll);
    await launches(FEW, undefined);
    const microsecondsEach = async (offset: number | undefined): Promise<number> =>
      (1000 * ((await launches(MANY, offset)) - (await launches(FEW, offset)))) / (MANY - FEW);
    const direct = await microsecondsEach(undefined);
    const recorded = (1000 * recording) / FEW;
    const indirect = await microsecondsEach(12);
    const empty = await microsecondsEach(0);
    const turn = (1000 * (await medianOf(() => timed(turns, (pass) => pass.dispatchWorkgroups(1))))) / TURNS;
    const copying = await medianOf(() => timed(copy, copyAll));
    const read = async (bytes: number): Promise<number> => {
      const since = performance.now();
      const encoder = device.createCommandEncoder();
      encoder.copyBufferToBuffer(goal, 0, staging, 0, bytes);
      device.queue.submit([encoder.finish()]);
      await staging.mapAsync(MAP_MODE.READ, 0, bytes);
      new Uint8Array(staging.getMappedRange(0, bytes)).slice();
      staging.unmap();
      return performance.now() - since;
    };
    const roundTrip = await medianOf(() => read(16));
    const readback = await medianOf(() => read(COPIED / 4));
    const data = new Uint8Array(COPIED / 4);
    const upload = await medianOf(async () => {
      const since = performance.now();
      device.queue.writeBuffer(source, 0, data);
      device.queue.submit([]);
      await device.queue.onSubmittedWorkDone();
      return performance.now() - since;
    });
    const gigabytes = (bytes: number, milliseconds: number): number => bytes / 1e6 / milliseconds;
    const figures = {
      dependentDispatchMicroseconds: direct,
      indirectDispatchMicroseconds: indirect,
      emptyIndirectDispatchMicroseconds: empty,
      recordedDispatchMicroseconds: recorded,
      workgroupTurnMicroseconds: turn,
      roundTripMilliseconds: roundTrip,
      copyGigabytesPerSecond: gigabytes(2 * COPIES * COPIED, copying),
      uploadGigabytesPerSecond: gigabytes(COPIED / 4, upload),
      readbackGigabytesPerSecond: gigabytes(COPIED / 4, readback),
    };
    return {
      figures,
      lines: [
        `a dispatch that depends on the one before: ${direct.toFixed(2)} µs; indirect ${indirect.toFixed(2)}, indirect and empty ${empty.toFixed(2)}; recording one ${recorded.toFixed(2)}`,
        `a turn of one workgroup with a barrier: ${turn.toFixed(2)} µs; a round trip to the host ${roundTrip.toFixed(3)} ms`,
        `reading and writing memory: ${figures.copyGigabytesPerSecond.toFixed(1)} GB/s; upload ${figures.uploadGigabytesPerSecond.toFixed(1)}, readback ${figures.readbackGigabytesPerSecond.toFixed(1)}`,
      ],
    };
  } finally {
    for (const made of owned) made.destroy();
  }
}
