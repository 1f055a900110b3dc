import { openAdapter } from '../../gpu/device/adapter.js';
import { BUFFER_USAGE, SHADER_STAGE } from '../../gpu/device/flags.js';
import { deviceOptions } from '../device.js';
import { spreadOf } from '../measure.js';

const CALLS = 1000;
const RUNS = 40;
const WARM_UPS = 15;
/** The number that most kernels of a step bind; every adapter allows it. */
const BINDINGS = 8;

export interface CallCost {
  readonly what: string;
  readonly microseconds: number;
}

/**
 * Measures the time of WebGPU's binding for each of the three calls of a dispatch, which is the least cost of
 * recording. Nothing is submitted.
 */
export async function measureBinding(): Promise<CallCost[]> {
  const { opened, reason } = await openAdapter(deviceOptions());
  if (!opened) throw new Error(`The binding cannot be measured: ${reason}`);
  try {
    const { device } = await opened.requestDevice();
    const { STORAGE, INDIRECT } = BUFFER_USAGE;
    const names = Array.from({ length: BINDINGS }, (_, n) => `b${n}`);
    const code = [
      ...names.map((name, n) => `@group(0) @binding(${n}) var<storage, read_write> ${name}: array<u32>;`),
      '@compute @workgroup_size(64) fn main() {',
      ...names.map((name) => `${name}[0] = 1u;`),
      '}',
    ].join('\n');
    const layout = device.createBindGroupLayout({
      entries: names.map((_, binding) => ({
        binding,
        visibility: SHADER_STAGE.COMPUTE,
        buffer: { type: 'storage' as const },
      })),
    });
    const pipeline = await device.createComputePipelineAsync({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module: device.createShaderModule({ code }), entryPoint: 'main' },
    });
    const groups = [0, 1].map(() =>
      device.createBindGroup({
        layout,
        entries: names.map((_, binding) => ({
          binding,
          resource: { buffer: device.createBuffer({ size: 256, usage: STORAGE }) },
        })),
      }),
    );
    const sizes = device.createBuffer({ size: 256, usage: INDIRECT });
    const costOf = (what: string, call: (pass: GPUComputePassEncoder, n: number) => void): CallCost => {
      const times: number[] = [];
      for (let run = 0; run < RUNS; run++) {
        const encoder = device.createCommandEncoder();
        const pass = encoder.beginComputePass();
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, groups[0]);
        const since = performance.now();
        for (let n = 0; n < CALLS; n++) call(pass, n);
        const spent = performance.now() - since;
        pass.end();
        encoder.finish();
        if (run >= WARM_UPS) times.push((1000 * spent) / CALLS);
      }
      return { what, microseconds: spreadOf(times).median };
    };
    return [
      costOf('setPipeline', (pass) => pass.setPipeline(pipeline)),
      costOf(`setBindGroup of ${BINDINGS} buffers`, (pass, n) => pass.setBindGroup(0, groups[n & 1])),
      costOf('dispatchWorkgroups', (pass) => pass.dispatchWorkgroups(1)),
      costOf('dispatchWorkgroupsIndirect', (pass) => pass.dispatchWorkgroupsIndirect(sizes, 0)),
    ];
  } finally {
    await opened.close();
  }
}
