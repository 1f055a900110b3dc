import t from 'tap';
import { BUFFER_USAGE, MAP_MODE } from '../../../gpu/device/flags.js';
import { SEARCH_CONTROL, SEARCH_WALK } from '../../../gpu/kernels/structs.js';
import { bindingsOf, loadKernel } from '../../../gpu/shaders.js';
import { EE, VT } from '../../../src/solver/pair-kinds.js';
import { openSharedDevice } from '../../support/shared-device.js';

/*
 * Numbers out of range in the functions of the search, planted, because on most drivers a search does not come by them:
 * entry points that read vertices and boxes from its buffers are added to its kernels.
 */

const { device } = await openSharedDevice(t);

const { STORAGE, UNIFORM, COPY_SRC, COPY_DST, MAP_READ } = BUFFER_USAGE;
const ROOM = 4096;

type Point = readonly [number, number, number];

/** Runs an entry point that was added to a kernel with these contents of its buffers, and reads one of them. */
async function run(
  device: GPUDevice,
  code: string,
  contents: Readonly<Record<string, ArrayBuffer>>,
  result: string,
  entryPoint = 'probe',
): Promise<Float32Array> {
  const bindings = bindingsOf(code);
  const module = device.createShaderModule({ code });
  const group = device.createBindGroupLayout({
    entries: bindings.map(({ index, type }) => ({ binding: index, visibility: 4, buffer: { type } })),
  });
  const layout = device.createPipelineLayout({ bindGroupLayouts: [group] });
  const pipeline = await device.createComputePipelineAsync({ layout, compute: { module, entryPoint } });
  const buffers = bindings.map(({ name, type }) => {
    const usage = type === 'uniform' ? UNIFORM | COPY_DST : STORAGE | COPY_DST | COPY_SRC;
    const buffer = device.createBuffer({ size: ROOM, usage });
    const content = contents[name];
    if (content) device.queue.writeBuffer(buffer, 0, content);
    return { name, buffer };
  });
  const readback = device.createBuffer({ size: ROOM, usage: MAP_READ | COPY_DST });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  const entries = buffers.map(({ buffer }, n) => ({ binding: bindings[n]!.index, resource: { buffer } }));
  pass.setBindGroup(0, device.createBindGroup({ layout: group, entries }));
  pass.dispatchWorkgroups(1);
  pass.end();
  const source = buffers.find(({ name }) => name === result)!.buffer;
  encoder.copyBufferToBuffer(source, 0, readback, 0, ROOM);
  device.queue.submit([encoder.finish()]);
  await readback.mapAsync(MAP_MODE.READ);
  const answer = new Float32Array(readback.getMappedRange().slice(0));
  for (const { buffer } of buffers) buffer.destroy();
  readback.destroy();
  return answer;
}

/** A vertex, and how far its box reaches beyond it downward and upward. */
interface Placed {
  readonly at: Point;
  readonly below?: number;
  readonly above?: number;
}

interface Look {
  readonly name: string;
  readonly kind: number;
  readonly vertices: readonly Placed[];
  readonly belongs: boolean;
}

const FAR = 3e38;

const LOOKS: readonly Look[] = [
  {
    name: 'an edge whose far end may come down through the other edge',
    kind: EE,
    vertices: [{ at: [-FAR, 0, 0] }, { at: [FAR, 0, 0], below: 5 }, { at: [-1, -1, 0] }, { at: [1, -1, 0] }],
    belongs: true,
  },
  ...[1, 2, 3].map((corner) => ({
    name: `a triangle whose corner ${corner}, beyond float32 from the vertex, may come up to it`,
    kind: VT,
    vertices: [
      { at: [-FAR, 0, 0] as const },
      ...[1, 2, 3].map((k): Placed => {
        const [x, z] = k === corner ? [FAR, 0] : [-FAR, k % 2 === corner % 2 ? 1 : -1];
        return { at: [x, -1, z], above: k === corner ? 5 : 0 };
      }),
    ],
    belongs: true,
  })),
  {
    name: 'closest points that are further apart than float32 can say',
    kind: EE,
    vertices: [{ at: [-FAR, 0, 0] }, { at: [-FAR, 1, 0] }, { at: [FAR, 0, 0] }, { at: [FAR, 0, 1] }],
    belongs: true,
  },
  {
    name: 'a triangle of 2^118 below a vertex',
    kind: VT,
    vertices: [
      { at: [0, 1, 0] },
      { at: [-(2 ** 118), 0, -(2 ** 118)] },
      { at: [2 ** 118, 0, -(2 ** 118)] },
      { at: [0, 0, 2 ** 118] },
    ],
    belongs: false,
  },
];

if (device) {
  t.test('A pair with a term out of range belongs into P, with a normal that is one or none.', async (t) => {
    const code = `${loadKernel('search/walk-pairs')}
@compute @workgroup_size(1)
fn probe() {
  for (var n = 0u; n < topology[0]; n++) {
    ofKind.kind = topology[n + 1u];
    let closer = lookCloser(vec4u(4u * n, 4u * n + 1u, 4u * n + 2u, 4u * n + 3u), control.cut, 4u);
    pairNormal[n] = vec4f(closer.normal, select(0.0, 1.0, closer.belongs));
  }
}`;
    const vertices = LOOKS.flatMap((look) =>
      look.vertices.flatMap(({ at: [x, y, z], below = 0, above = 0 }) => [
        ...[x, y, z, 0],
        ...[x, y - below, z, 0],
        ...[x, y + above, z, 0],
      ]),
    );
    const answers = await run(
      device,
      code,
      {
        walk: SEARCH_WALK.pack({}),
        control: SEARCH_CONTROL.pack({ cut: 0.1 }),
        topology: Uint32Array.from([LOOKS.length, ...LOOKS.map(({ kind }) => kind)]).buffer,
        vertices: Float32Array.from(vertices).buffer,
      },
      'pairNormal',
    );
    LOOKS.forEach(({ name, belongs }, n) => {
      const [x, y, z, found] = answers.subarray(4 * n, 4 * n + 4);
      t.equal(found === 1, belongs, name);
      const length = Math.hypot(x!, y!, z!);
      t.ok(length === 0 || Math.abs(length - 1) < 1e-3, `${name}: the normal is ${[x, y, z]}`);
    });
  });

  t.test('Vertices at rest do not widen the grid in which the boxes of the others lie.', async (t) => {
    const places: readonly { readonly at: Point; readonly isKinematic: boolean; readonly moves: boolean }[] = [
      { at: [1, 2, 3], isKinematic: false, moves: false },
      { at: [-4, 0, 1], isKinematic: false, moves: true },
      { at: [0, 6, 0], isKinematic: true, moves: true },
      { at: [2 ** 60, -(2 ** 60), 0], isKinematic: true, moves: false },
      { at: [-FAR, FAR, FAR], isKinematic: true, moves: false },
    ];
    const words = await run(
      device,
      loadKernel('search/trust-boxes'),
      {
        control: SEARCH_CONTROL.pack({ vertices: places.length, leap: 2, reach: 0.5 }),
        x: Float32Array.from(places.flatMap(({ at }) => at)).buffer,
        y: Float32Array.from(places.flatMap(({ at: [x, y, z], moves }) => [x, y, moves ? z + 1 : z, 0])).buffer,
        inverseMass: Float32Array.from(places.map(({ isKinematic }) => (isKinematic ? 0 : 1))).buffer,
        extent: new Uint32Array(6).fill(0xffffffff).buffer,
      },
      'extent',
      'fillTrustBoxes',
    );
    // Keys whose order is that of the numbers (search/extent.wgsl), the highs inverted.
    const numberOf = (key: number) => {
      const bits = key >= 0x80000000 ? key & 0x7fffffff : ~key;
      return new Float32Array(Int32Array.of(bits).buffer)[0];
    };
    const keys = new Uint32Array(words.buffer, 0, 6);
    const ends = [...keys].map((key, side) => numberOf(side < 3 ? key : ~key >>> 0));
    t.strictSame(ends, [-4.5, -0.5, -0.5, 1.5, 6.5, 3.5]);
  });

  t.test('A motion beyond float32 leads to a place that is one.', async (t) => {
    const code = `${loadKernel('search/trust-boxes')}
@compute @workgroup_size(1)
fn probe() {
  for (var n = 0u; n < control.vertices; n++) {
    let end = leapEnd(vec3f(x[3u * n], x[3u * n + 1u], x[3u * n + 2u]), y[n].xyz, control.leap);
    for (var c = 0u; c < 3u; c++) {
      box[3u * n + c] = end[c];
    }
  }
}`;
    const ways: readonly (readonly [Point, Point])[] = [
      [
        [-FAR, 2, 1],
        [FAR, 2, 1],
      ],
      [
        [1, FAR, -FAR],
        [2, -FAR, FAR],
      ],
      [
        [0, 0, 0],
        [FAR, 0, 0],
      ],
    ];
    const ends = await run(
      device,
      code,
      {
        control: SEARCH_CONTROL.pack({ vertices: ways.length, leap: 2 }),
        x: Float32Array.from(ways.flatMap(([at]) => at)).buffer,
        y: Float32Array.from(ways.flatMap(([, to]) => [...to, 0])).buffer,
      },
      'box',
    );
    ways.forEach(([at], n) => {
      const end = [...ends.subarray(3 * n, 3 * n + 3)];
      t.ok(end.every(Number.isFinite), `from ${at} to ${end}`);
    });
  });
}
