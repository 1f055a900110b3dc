import t from 'tap';
import type { MeshInput } from '../../src/contract/mesh.js';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import { resolveParameters } from '../../src/solver/parameters.js';
import { checkPartDistances } from '../../src/solver/part-distances.js';

/** Particles on a grid of this spacing. */
function grid(count: number, spacing: number, from = 0): number[] {
  const side = Math.ceil(Math.cbrt(count));
  return Array.from({ length: count }, (_, v) => [v % side, Math.floor(v / side) % side, Math.floor(v / side ** 2)])
    .flat()
    .map((at) => from + spacing * at);
}

/** A square of n × n quads with edges of length 1. */
function sheet(n: number): { positions: number[]; triangles: number[] } {
  const positions: number[] = [];
  const triangles: number[] = [];
  for (let i = 0; i <= n; i++) for (let j = 0; j <= n; j++) positions.push(i, j, 0);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const v = i * (n + 1) + j;
      triangles.push(v, v + 1, v + n + 1, v + 1, v + n + 2, v + n + 1);
    }
  }
  return { positions, triangles };
}

const particles = (count: number): MeshInput => ({
  vertexCount: count,
  particles: Uint32Array.from({ length: count }, (_, v) => v),
});

function accepts(mesh: MeshInput, positions: readonly number[], parameters: ParametersInput): string {
  const built = buildMesh(mesh);
  const measures = measureMesh(built, Float64Array.from(positions));
  try {
    const { parameters: resolved } = resolveParameters(parameters, measures);
    checkPartDistances(built, resolved, measures);
    return 'accepted';
  } catch (thrown) {
    return `${(thrown as Error & { code: string }).code}: ${(thrown as Error).message} ${(thrown as Error & { hint: string }).hint}`;
  }
}

t.test('δ is bounded by eight times the distance of neighbouring particles', async (t) => {
  const positions = grid(1000, 0.5);
  t.equal(accepts(particles(1000), positions, { activationDistance: 0.5 }), 'accepted', 'a diameter');
  t.equal(accepts(particles(1000), positions, { activationDistance: 4 }), 'accepted');
  const refusal = accepts(particles(1000), positions, { activationDistance: 4.01 });
  t.match(refusal, /^INVALID_PARAMETER: activationDistance is 4.01; it must be at most 4, .* A usual value is 0\.05\./);
  t.equal(accepts(particles(1000), positions, {}), 'accepted', 'the default');
});

t.test('δ is bounded by eight edges of a surface; radii of PAPER follow', async (t) => {
  const { positions, triangles } = sheet(16);
  const mesh = { vertexCount: positions.length / 3, triangles: Uint32Array.from(triangles) };
  t.equal(accepts(mesh, positions, { activationDistance: 3 }), 'accepted', 'thick cloth: three edges');
  t.equal(accepts(mesh, positions, { activationDistance: 8 }), 'accepted');
  t.match(accepts(mesh, positions, { activationDistance: 8.1 }), /^INVALID_PARAMETER/);
  const paper = { preset: 'PAPER', activationDistance: 8 } as const;
  t.equal(accepts(mesh, positions, paper), 'accepted', 'its radii are defaults');
  t.equal(accepts(mesh, positions, { ...paper, searchRadiusMax: 32 }), 'accepted');
  t.match(accepts(mesh, positions, { ...paper, searchRadiusMax: 33 }), /searchRadiusMax is 33; .* at most 32/);
  t.match(
    accepts(
      mesh,
      positions.map((x) => x / 1e5),
      { preset: 'PAPER' },
    ),
    /^INVALID_PARAMETER: activationDistance is 0.001/,
    'a metric default of a mesh in another unit',
  );
});

t.test('small meshes take any δ', async (t) => {
  t.equal(accepts(particles(300), grid(300, 0.01), { activationDistance: 100 }), 'accepted');
  const { positions, triangles } = sheet(4);
  const mesh = { vertexCount: positions.length / 3, triangles: Uint32Array.from(triangles) };
  t.equal(accepts(mesh, positions, { activationDistance: 100 }), 'accepted');
});

t.test('parts of larger bodies take a δ of their size, and no more', async (t) => {
  const { positions, triangles } = sheet(16);
  const first = positions.length / 3;
  const with_ = (count: number, spacing: number, delta: number) =>
    accepts(
      {
        vertexCount: first + count,
        triangles: Uint32Array.from(triangles),
        particles: Uint32Array.from({ length: count }, (_, v) => first + v),
        parts: [
          { name: 'cloth', firstVertex: 0, vertexCount: first },
          { name: 'balls', firstVertex: first, vertexCount: count, activationDistance: delta },
        ],
      },
      [...positions, ...grid(count, spacing, 40)],
      {},
    );
  t.equal(with_(1000, 20, 20), 'accepted', 'balls of 20 edges');
  t.match(
    with_(1000, 20, 161),
    /^INVALID_PARAMETER: mesh\.parts\[1\]\.activationDistance is 161; it must be at most 160/,
  );
  t.match(with_(1000, 0.5, 8.1), /at most 8/, 'fine ones as the cloth');
  t.equal(with_(100, 0.5, 100), 'accepted', 'a few of them');
});
