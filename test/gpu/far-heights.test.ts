import t from 'tap';
import { BUFFER_USAGE, MAP_MODE } from '../../gpu/device/flags.js';
import { loadKernel } from '../../gpu/shaders.js';
import { CORNERS, EE, SIDE_A, VE, VT, VV } from '../../src/solver/pair-kinds.js';
import { openSharedDevice } from '../support/shared-device.js';

const { device } = await openSharedDevice(t);

const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = BUFFER_USAGE;

/** Words of a case: kind, four points, a vector; of an answer: gap, error, certified. */
const CASE = 16;
const ANSWER = 4;

const PROGRAM = `${loadKernel('common/measure')}
@group(0) @binding(0) var<storage, read> cases: array<f32>;
@group(0) @binding(1) var<storage, read_write> answers: array<f32>;

fn vectorAt(k: u32) -> vec3f {
  return vec3f(cases[k], cases[k + 1u], cases[k + 2u]);
}

@compute @workgroup_size(1)
fn run(@builtin(workgroup_id) id: vec3u) {
  let k = ${CASE}u * id.x;
  let p = Corners(vectorAt(k + 1u), vectorAt(k + 4u), vectorAt(k + 7u), vectorAt(k + 10u));
  let heights = measureAnyHeights(u32(cases[k]), p, vectorAt(k + 13u));
  let direction = directionOf(p.p1 - p.p0);
  answers[${ANSWER}u * id.x] = heights.gap;
  answers[${ANSWER}u * id.x + 1u] = heights.error;
  answers[${ANSWER}u * id.x + 2u] = select(0.0, 1.0, isCertified(heights.gap, heights.error));
  answers[${ANSWER}u * id.x + 3u] = abs(direction.x) + abs(direction.y) + abs(direction.z);
}
`;

type Point = readonly [number, number, number];

interface Case {
  readonly name: string;
  readonly kind: number;
  readonly points: readonly Point[];
  readonly normal: Point;
  readonly isCertified: boolean;
}

const UP: Point = [0, 1, 0];
const FAR = 3e38;

/** In each of these one corner lies on the wrong side. The difference that says so is beyond float32 in x, where the normal is 0. */
const CASES: readonly Case[] = [
  {
    name: 'two edges with one end of the first below the second',
    kind: EE,
    points: [
      [-FAR, 0, 0],
      [FAR, -5, 0],
      [0, -1, 0],
      [1, -1, 0],
    ],
    normal: UP,
    isCertified: false,
  },
  ...[1, 2, 3].map((corner) => ({
    name: `a vertex and a triangle, corner ${corner} above the vertex`,
    kind: VT,
    points: [[-FAR, 0, 0] as const, ...[1, 2, 3].map((k): Point => (k === corner ? [FAR, 5, 0] : [-FAR, -1, k]))],
    normal: UP,
    isCertified: false,
  })),
  {
    name: 'a vertex and an edge, one end above the vertex',
    kind: VE,
    points: [
      [-FAR, 0, 0],
      [-FAR, -1, 0],
      [FAR, 5, 0],
      [0, 0, 0],
    ],
    normal: UP,
    isCertified: false,
  },
  {
    name: 'two vertices, the second above the first',
    kind: VV,
    points: [
      [-FAR, 0, 0],
      [FAR, 5, 0],
      [0, 0, 0],
      [0, 0, 0],
    ],
    normal: UP,
    isCertified: false,
  },
  {
    name: 'heights whose difference is beyond float32',
    kind: VT,
    points: [
      [0, FAR, 0],
      [0, -FAR, 0],
      [1, -FAR, 0],
      [0, -FAR, 1],
    ],
    normal: UP,
    isCertified: false,
  },
  {
    name: 'a level triangle far away under a vertex',
    kind: VT,
    points: [
      [0, 1, 0],
      [-(2 ** 118), 0, -(2 ** 118)],
      [2 ** 118, 0, -(2 ** 118)],
      [0, 0, 2 ** 118],
    ],
    normal: UP,
    isCertified: true,
  },
  {
    // In float32 corner 1 is behind the two others, and exactly 0.76 in front of them, whatever the order of the sums,
    // fused or not.
    name: 'a triangle of millions of edges, a corner of which has another height in float32',
    kind: VT,
    points: [
      [8343908, 7875484, 8010029],
      [-7211674.5, -7840047.5, -4649264.5],
      [8344043, 7875473, 8010029],
      [8344044, 7875477, 8010029],
    ],
    normal: [-0.7252718806266785, 0.18334916234016418, 0.6635991334915161],
    isCertified: true,
  },
];

/** The gap in double precision, in which coordinates below 2^30 leave it exact to far less than any e. */
function gapOf({ kind, points, normal }: Case): number {
  const heights = points
    .slice(0, CORNERS[kind])
    .map((at) => at.reduce((sum, value, c) => sum + normal[c]! * (value - points[0]![c]!), 0));
  return Math.min(...heights.slice(0, SIDE_A[kind])) - Math.max(...heights.slice(SIDE_A[kind]));
}

if (device) {
  t.test('Heights beyond float32 are no certificate, and no direction is one of what is beyond it.', async (t) => {
    const words = new Float32Array(CASE * CASES.length);
    CASES.forEach(({ kind, points, normal }, n) => {
      words.set([kind, ...points.flat(), ...normal], CASE * n);
    });
    const module = device.createShaderModule({ code: PROGRAM });
    const pipeline = await device.createComputePipelineAsync({
      layout: 'auto',
      compute: { module, entryPoint: 'run' },
    });
    const bytes = 4 * ANSWER * CASES.length;
    const input = device.createBuffer({ size: words.byteLength, usage: STORAGE | COPY_DST });
    const output = device.createBuffer({ size: bytes, usage: STORAGE | COPY_SRC });
    const readback = device.createBuffer({ size: bytes, usage: MAP_READ | COPY_DST });
    device.queue.writeBuffer(input, 0, words);
    const layout = pipeline.getBindGroupLayout(0);
    const entries = [input, output].map((buffer, binding) => ({ binding, resource: { buffer } }));
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, device.createBindGroup({ layout, entries }));
    pass.dispatchWorkgroups(CASES.length);
    pass.end();
    encoder.copyBufferToBuffer(output, 0, readback, 0, bytes);
    device.queue.submit([encoder.finish()]);
    await readback.mapAsync(MAP_MODE.READ);
    const answers = new Float32Array(readback.getMappedRange().slice(0));
    for (const buffer of [input, output, readback]) buffer.destroy();
    CASES.forEach((one, n) => {
      const { name, isCertified } = one;
      const [gap, error, certified, size] = answers.subarray(ANSWER * n, ANSWER * n + ANSWER);
      t.equal(certified === 1, isCertified, `${name}: gap ${gap}, e ${error}`);
      t.ok(gap! <= gapOf(one) + error!, `${name}: a gap of ${gap}, and ${gapOf(one)} exactly, e ${error}`);
      t.ok(Number.isFinite(gap) && Number.isFinite(error), `${name}: numbers`);
      t.ok(size === 0 || (size! > 0.99 && size! < 1.8), `${name}: a direction of size ${size}`);
    });
  });
}
