import t from 'tap';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import { findTypicalEdge } from '../../src/mesh/typical-edge.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { resolveParameters } from '../../src/solver/parameters.js';
import { runJob } from '../support/job.js';
import { seeded } from '../support/random.js';
import { SceneBuilder } from '../support/scene-builder.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

/** A flat sheet of n × n quads with edges of this length, its first corner at (x, y, z); its target is `drop` lower. */
function addSheet(
  scene: SceneBuilder,
  n: number,
  edge: number,
  [x, y, z]: readonly number[] = [0, 0, 0],
  drop = 0,
): void {
  scene.sheet(n, (u, v) => {
    const at = [x! + n * edge * u, y! + n * edge * v, z!] as const;
    return { at, to: [at[0], at[1], at[2] - drop] };
  });
}

/** A band of slivers: `length` long, their height apart. */
function addBand(scene: SceneBuilder, count: number, length: number, height: number, z: number, drop: number): void {
  const rows = Array.from({ length: count + 1 }, (_, k) =>
    [0, length].map((x) => scene.vertex([x, k * height, z], [x, k * height, z - drop])),
  );
  for (let k = 0; k < count; k++) {
    const [[a, b], [c, d]] = [rows[k]!, rows[k + 1]!];
    scene.triangle(a!, b!, c!);
    scene.triangle(b!, d!, c!);
  }
}

function edgesOf(scene: SceneBuilder): { readonly median: number; readonly typical: number } {
  const { mesh, start } = scene.build();
  const { medianEdge, typicalEdge } = measureMesh(buildMesh(mesh), start);
  return { median: medianEdge, typical: typicalEdge };
}

t.test('a mesh of one scale has its median edge, bit for bit', async (t) => {
  for (let n = 0; n < 20; n++) {
    const scene = new SceneBuilder();
    const [edge, wrinkle] = [10 ** random.between(-4, 4), random.between(0, 0.4)];
    const aspect = 10 ** random.between(0, 0.8);
    const size = 20 + random.int(40);
    const jitter = (): number => wrinkle * edge * random.between(-1, 1);
    for (let layer = 0; layer < 3; layer++) {
      scene.sheet(size, (u, v) => {
        const at = [
          size * edge * u + jitter(),
          aspect * size * edge * v + jitter(),
          2 * layer * edge + jitter(),
        ] as const;
        return { at, to: at };
      });
    }
    const { median, typical } = edgesOf(scene);
    t.equal(typical, median, `edges of ${edge}, aspect ${aspect}`);
  }
});

t.test('a few slivers, fine details and a button leave the median as it is', async (t) => {
  const scene = new SceneBuilder();
  addSheet(scene, 60, 0.01);
  addSheet(scene, 6, 0.0005, [0.1, 0.1, 0.02]);
  addBand(scene, 30, 0.01, 1e-6, 0.05, 0);
  const { median, typical } = edgesOf(scene);
  t.equal(typical, median);
  const strands = new SceneBuilder();
  for (let s = 0; s < 40; s++) {
    strands.strand(
      Array.from({ length: 30 }, (_, k) => {
        const at = [0.001 * s, 0.01 * k, 0] as const;
        return { at, to: at };
      }),
    );
  }
  t.equal(edgesOf(strands).typical, edgesOf(strands).median);
});

t.test('the fine part of a mesh decides the typical edge, even if a coarse part has more edges', async (t) => {
  for (const [coarse, fine] of [
    [60, 40],
    [60, 20],
    [30, 29],
  ] as const) {
    const scene = new SceneBuilder();
    addSheet(scene, coarse, 1);
    addSheet(scene, fine, 0.017, [coarse / 2, coarse / 2, 0.05]);
    const { median, typical } = edgesOf(scene);
    t.ok(median > 0.9);
    const rounded = 3e-4 * coarse;
    t.ok(typical > 0.0169 && typical < Math.max(0.0171, 1.001 * rounded), `${coarse}, ${fine}: ${typical}`);
  }
});

t.test('for slivers δ is half of their height', async (t) => {
  const scene = new SceneBuilder();
  addBand(scene, 400, 1, 0.00025, 0, 0);
  const { median, typical } = edgesOf(scene);
  t.ok(median > 0.9 && Math.abs(typical / 0.00125 - 1) < 1e-3, `${typical}`);
});

t.test('the typical edge is never so short that float32 could not hold its δ', async (t) => {
  const scene = new SceneBuilder();
  addBand(scene, 400, 1000, 0.01, 0, 0);
  for (const Scalar of [Float32Array, Float64Array]) {
    const { mesh, start, target } = scene.build();
    const built = buildMesh(mesh);
    const measures = measureMesh(built, Scalar.from(start));
    t.ok(Math.abs(measures.typicalEdge / 0.3 - 1) < 1e-6, `${measures.typicalEdge}`);
    const sent = { mesh, start: Scalar.from(start), target: Scalar.from(target), parameters: {} };
    const { answer } = await runJob(sent, createCpuEngine(), { limits: { ...LARGE } });
    t.equal(answer.report.status, 'CONVERGED');
  }
});

const LARGE = {
  maxVertices: 100_000,
  maxElements: 200_000,
  maxMessageBytes: 1e8,
  maxSessions: 1,
  maxDeviceBytes: 0,
  maxQueue: 4,
  maxTimeBudgetSeconds: 60,
};

t.test('kinematic vertices do not count, unless there are no others', async (t) => {
  const scene = new SceneBuilder();
  addSheet(scene, 60, 1);
  scene.sheet(60, (u, v) => ({ at: [u, v, 1], to: [u, v, 1] }), true);
  t.equal(edgesOf(scene).typical, edgesOf(scene).median);
  const { mesh, start } = scene.build();
  const still = buildMesh({ ...mesh, kinematic: new Uint8Array(mesh.vertexCount).fill(1) });
  t.ok(findTypicalEdge(still, start, 1) < 0.05);
});

/** Grains above a resting floor, two triangles with edges of 100 at the height 0. */
function addGrainsOverFloor(scene: SceneBuilder, places: readonly (readonly [number, number, number])[]): void {
  for (const place of places) scene.particle(scene.vertex(place));
  const [a, b, c, d] = [
    [0, 0, 0],
    [100, 0, 0],
    [100, 100, 0],
    [0, 100, 0],
  ].map((corner) => scene.vertex(corner as [number, number, number], undefined, true));
  scene.triangle(a!, b!, c!);
  scene.triangle(a!, c!, d!);
}

t.test('where only particles move, their distances are typical, not the edges of what rests', async (t) => {
  const heap = Array.from({ length: 1000 }, (_, k): [number, number, number] => [
    40 + 0.02 * (k % 10) + 0.001 * random.between(0, 1),
    40 + 0.02 * (Math.floor(k / 10) % 10),
    0.02 * (1 + Math.floor(k / 100)),
  ]);
  const sand = new SceneBuilder();
  addGrainsOverFloor(sand, heap);
  const { mesh, start } = sand.build();
  const measures = measureMesh(buildMesh(mesh), start);
  t.ok(measures.typicalEdge > 0.018 && measures.typicalEdge < 0.0211, `${measures.typicalEdge}`);
  t.equal(resolveParameters({}, measures).parameters.activationDistance, 0.1 * measures.typicalEdge);
  t.throws(() => resolveParameters({ activationDistance: 1 }, measures), { code: 'INVALID_PARAMETER' });

  const beside = new SceneBuilder();
  addSheet(beside, 10, 1, [0, 0, 5]);
  addGrainsOverFloor(beside, heap);
  t.equal(edgesOf(beside).typical, edgesOf(beside).median, 'a sheet that moves too has edges of its own');
});

t.test('a few grains far apart, at one place or too near for float32 leave a usable typical edge', async (t) => {
  for (const [places, most] of [
    [[[1, 1, 1]], 100],
    [
      [
        [1, 1, 1],
        [900, 1, 1],
      ],
      100,
    ],
    [
      [
        [1, 1, 1],
        [1, 1, 1],
      ],
      100,
    ],
    [
      [
        [1, 1, 1],
        [1, 1, 1 + 1e-6],
      ],
      3.1e-4,
    ],
  ] as [[number, number, number][], number][]) {
    const scene = new SceneBuilder();
    addGrainsOverFloor(scene, places);
    const { mesh, start } = scene.build();
    const { typicalEdge } = measureMesh(buildMesh(mesh), Float32Array.from(start));
    t.ok(typicalEdge <= most && typicalEdge > 0.99 * Math.min(most, 3e-4), `${JSON.stringify(places)}: ${typicalEdge}`);
    if (most === 100) t.equal(typicalEdge, 100);
  }
});

t.test('defaults follow the typical edge, and so does the warning', async (t) => {
  const scene = new SceneBuilder();
  addSheet(scene, 60, 1);
  addSheet(scene, 40, 0.018, [30, 30, 0.05]);
  const { mesh, start } = scene.build();
  const measures = measureMesh(buildMesh(mesh), start);
  const { parameters, warnings } = resolveParameters({}, measures);
  t.equal(parameters.activationDistance, 0.1 * measures.typicalEdge);
  t.equal(parameters.leap, 2 * measures.typicalEdge);
  t.same(warnings, []);
  const { warnings: said } = resolveParameters({ activationDistance: 0.1 }, measures);
  t.match(said, [{ code: 'DELTA_ABOVE_HALF_EDGE', message: /the typical edge where the mesh is densest/ }, {}]);
});

t.test('meshes of several scales resolve with a proximity set of ordinary size', async (t) => {
  const bands = new SceneBuilder();
  addBand(bands, 400, 1, 0.00025, 0, 0);
  addBand(bands, 400, 1, 0.00025, 0.01, 0.02);
  const parts = new SceneBuilder();
  addSheet(parts, 50, 1);
  addSheet(parts, 30, 0.017, [25, 25, 0.03], 0.06);
  for (const scene of [bands, parts]) {
    const { mesh, start, target } = scene.build();
    const { answer } = await runJob({ mesh, start, target, parameters: {} }, createCpuEngine(), { limits: LARGE });
    const { status, pairs } = answer.report;
    t.equal(status, 'CONVERGED');
    const perVertex = (pairs.vertexTriangle + pairs.edgeEdge) / mesh.vertexCount;
    t.ok(perVertex < 100, `${perVertex} pairs a vertex`);
  }
});
