import t from 'tap';
import { openAdapter } from '../../gpu/device/adapter.js';
import { BUFFER_USAGE, MAP_MODE } from '../../gpu/device/flags.js';
import { loadKernel } from '../../gpu/shaders.js';
import {
  closest,
  closestEdgeEdge,
  closestVertexEdge,
  closestVertexTriangle,
  closestVertexVertex,
} from '../../src/solver/cpu/closest.js';
import { EE, VE, VT } from '../../src/solver/pair-kinds.js';
import { KIND_NAMES, KINDS, placePair, SHAPES, type Shape, sidesOf } from '../support/pair-shapes.js';
import { seeded } from '../support/random.js';

/** Unit roundoff whatever the rounding direction. */
const U = 2 ** -23;
/** Differences, two weights and two products: what the vector between two weighted points may be off by, in u·extent. */
const DIFFERENCE_ERROR = 8;
/** The same with the weights' own error, after one refinement. */
const DISTANCE_ERROR = 8;
const TRIES = 400;
/** Coordinates below 2^30 are not scaled, larger ones by a power of two. */
const NOT_SCALED = 29;
const FAR_SCALES = [30, 31, 45, 63, 64, 65, 90, 110, 126];

const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = BUFFER_USAGE;

const opening = await openAdapter({ allowSoftware: true });
const { opened } = opening;
const needsAdapter = opened || process.env.INTERSTICE_REQUIRE_GPU === '1' ? {} : { skip: opening.reason };
t.teardown(() => opened?.close());
const device = (await opened?.requestDevice())?.device;

const random = seeded();
t.comment(`seed ${random.seed}`);

t.test('an adapter is found if one is required', needsAdapter, async (t) => {
  t.ok(opened, opening.reason ?? 'opened');
});

const PROGRAM = `${loadKernel('common/closest')}
// four points of three coordinates a pair; four weights, difference, squared
@group(0) @binding(0) var<storage, read> points: array<f32>;
@group(0) @binding(1) var<storage, read_write> answers: array<f32>;
override KIND: u32;

fn pointAt(k: u32) -> vec3f {
  return vec3f(points[3u * k], points[3u * k + 1u], points[3u * k + 2u]);
}

@compute @workgroup_size(64)
fn run(@builtin(global_invocation_id) id: vec3u) {
  let p = id.x;
  if (p >= arrayLength(&answers) / 8u) {
    return;
  }
  let a = pointAt(4u * p);
  let b = pointAt(4u * p + 1u);
  let c = pointAt(4u * p + 2u);
  let d = pointAt(4u * p + 3u);
  var found: Closest;
  switch KIND {
    case 0u: { found = closestInTurns(a, b, c, d, false, 3u); }
    case 1u: { found = closestInTurns(a, b, c, d, true, 4u); }
    case 2u: { found = closestInTurns(a, b, c, a, false, 1u); }
    default: { found = closestInTurns(a, b, b, a, false, 1u); }
  }
  for (var k = 0u; k < 4u; k++) {
    answers[8u * p + k] = found.weight[k];
  }
  answers[8u * p + 4u] = found.difference.x;
  answers[8u * p + 5u] = found.difference.y;
  answers[8u * p + 6u] = found.difference.z;
  answers[8u * p + 7u] = found.squared;
}
`;

interface Judged {
  /** in u·extent: how far above and below the true distance, and how far p − q from that of the weighted points */
  above: number;
  below: number;
  difference: number;
  leastWeight: number;
  /** in u */
  weightSum: number;
  hasStray: boolean;
  isFinite: boolean;
}

/** Double precision, in double arithmetic on the float32 points. */
function exactDistance(kind: number, x: Float32Array): number {
  if (kind === VT) closestVertexTriangle(x, 0, 1, 2, 3);
  else if (kind === EE) closestEdgeEdge(x, 0, 1, 2, 3);
  else if (kind === VE) closestVertexEdge(x, 0, 1, 2);
  else closestVertexVertex(x, 0, 1);
  return Math.sqrt(closest.squared);
}

function judge(kind: number, points: Float32Array, answers: Float32Array): Judged {
  const { a, b } = sidesOf(kind);
  const used = [...a, ...b];
  const judged: Judged = {
    above: 0,
    below: 0,
    difference: 0,
    leastWeight: 0,
    weightSum: 0,
    hasStray: false,
    isFinite: answers.every(Number.isFinite),
  };
  for (let p = 0; p < points.length / 12; p++) {
    const x = points.subarray(12 * p, 12 * p + 12);
    const weight = answers.subarray(8 * p, 8 * p + 4);
    const difference = answers.subarray(8 * p + 4, 8 * p + 7);
    let extent = 1e-30;
    for (const v of used)
      for (const w of used)
        for (let c = 0; c < 3; c++) extent = Math.max(extent, Math.abs(x[3 * v + c] - x[3 * w + c]));
    const unit = U * extent;
    const least = exactDistance(kind, x);
    const found = Math.sqrt(answers[8 * p + 7]);
    judged.above = Math.max(judged.above, (found - least) / unit);
    judged.below = Math.max(judged.below, (least - found) / unit);
    for (let c = 0; c < 3; c++) {
      // From the first vertex, so that this double computation has no rounding of its own to speak of.
      const along = (v: number): number => weight[v] * (x[3 * v + c] - x[c]);
      const between = a.reduce((sum, v) => sum + along(v), 0) - b.reduce((sum, v) => sum + along(v), 0);
      judged.difference = Math.max(judged.difference, Math.abs(between - difference[c]) / unit);
    }
    for (const side of [a, b]) {
      judged.weightSum = Math.max(judged.weightSum, Math.abs(side.reduce((sum, v) => sum + weight[v], 0) - 1) / U);
      for (const v of side) judged.leastWeight = Math.min(judged.leastWeight, weight[v]);
    }
    for (let v = used.length; v < 4; v++) if (weight[v] !== 0) judged.hasStray = true;
  }
  return judged;
}

if (device) {
  const module = device.createShaderModule({ code: PROGRAM });

  for (const kind of KINDS) {
    // Compiled by the first test that needs it: nothing may be awaited between the tests.
    let compiled: Promise<GPUComputePipeline> | undefined;
    const compile = (): Promise<GPUComputePipeline> =>
      device.createComputePipelineAsync({
        layout: 'auto',
        compute: { module, entryPoint: 'run', constants: { KIND: kind } },
      });
    const measure = async (points: Float32Array<ArrayBuffer>): Promise<Float32Array> => {
      compiled ??= compile();
      const pipeline = await compiled;
      const pairs = points.length / 12;
      const input = device.createBuffer({ size: points.byteLength, usage: STORAGE | COPY_DST });
      const output = device.createBuffer({ size: 32 * pairs, usage: STORAGE | COPY_SRC });
      const readback = device.createBuffer({ size: 32 * pairs, usage: MAP_READ | COPY_DST });
      device.queue.writeBuffer(input, 0, points);
      const layout = pipeline.getBindGroupLayout(0);
      const entries = [input, output].map((buffer, binding) => ({ binding, resource: { buffer } }));
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, device.createBindGroup({ layout, entries }));
      pass.dispatchWorkgroups(Math.ceil(pairs / 64));
      pass.end();
      encoder.copyBufferToBuffer(output, 0, readback, 0, 32 * pairs);
      device.queue.submit([encoder.finish()]);
      await readback.mapAsync(MAP_MODE.READ);
      const answers = new Float32Array(readback.getMappedRange().slice(0));
      for (const buffer of [input, output, readback]) buffer.destroy();
      return answers;
    };
    const placeAll = (shape: Shape): Float32Array<ArrayBuffer> => {
      const points = new Float32Array(12 * TRIES);
      for (let n = 0; n < TRIES; n++) points.set(placePair(random, kind, shape), 12 * n);
      return points;
    };
    for (const shape of SHAPES) {
      t.test(`${KIND_NAMES[kind]}, ${shape}: a point of each side, as close as float32 can represent`, async (t) => {
        const points = placeAll(shape);
        const found = judge(kind, points, await measure(points));
        t.ok(found.isFinite, 'every number is one');
        t.ok(found.leastWeight >= 0, `no weight is negative (${found.leastWeight})`);
        t.ok(found.weightSum <= 4, `each side sums to 1 (off by ${found.weightSum} u)`);
        t.notOk(found.hasStray, 'unused slots weigh nothing');
        t.ok(
          found.difference <= DIFFERENCE_ERROR,
          `p − q is that of the weighted points (${found.difference} u·extent)`,
        );
        t.ok(found.below <= DIFFERENCE_ERROR, `not below the true distance (${found.below} u·extent)`);
        t.ok(found.above <= DISTANCE_ERROR, `nor above it (${found.above} u·extent)`);
      });
    }

    t.test(`${KIND_NAMES[kind]}: points of any size have the weights of nearer ones, bit for bit`, async (t) => {
      const points = new Float32Array(12 * TRIES);
      for (let n = 0; n < TRIES; n++) {
        const shape = SHAPES[n % SHAPES.length]!;
        const pair = placePair(random, kind, shape);
        const largest = pair.reduce((size, c) => Math.max(size, Math.abs(c)), 0);
        const unit = 2 ** -Math.floor(Math.log2(largest || 1));
        points.set(
          pair.map((c) => c * unit),
          12 * n,
        );
      }
      const near = await measure(points.map((c) => c * 2 ** NOT_SCALED));
      t.ok(near.every(Number.isFinite));
      for (const exponent of FAR_SCALES) {
        const far = await measure(points.map((c) => c * 2 ** exponent));
        let different = 0;
        for (let k = 0; k < far.length; k++) {
          const isSquare = k % 8 === 7;
          const expected = k % 8 < 4 ? near[k]! : near[k]! * 2 ** (exponent - NOT_SCALED);
          if (!isSquare && far[k] !== Math.fround(expected)) different++;
        }
        t.equal(different, 0, `2^${exponent}`);
      }
    });
  }
}
