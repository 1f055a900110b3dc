import t from 'tap';
import { untangleOne } from '../../bench/untangle/run-one.js';
import { IntersticeError } from '../../src/contract/errors.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { type Random, seeded } from '../support/random.js';

const engine = createCpuEngine();

type Point = readonly number[];

const minus = (p: Point, q: Point): Point => p.map((x, c) => x - q[c]!);

function cross([a, b, c]: Point, [x, y, z]: Point): Point {
  return [b! * z! - c! * y!, c! * x! - a! * z!, a! * y! - b! * x!];
}

/** Two triangles that intersect, and a tiny one over a tilted one, nearer to it than float32 can tell. */
function nearby(random: Random) {
  const ground = [
    [0, 0, random.between(0.1, 0.4)],
    [1, random.between(0, 0.1), random.between(0, 0.3)],
    [random.between(0, 0.2), 1, random.between(0, 0.5)],
  ];
  const [u, v] = [minus(ground[1]!, ground[0]!), minus(ground[2]!, ground[0]!)];
  const normal = cross(u, v);
  const [s, r] = [random.between(0.2, 0.4), random.between(0.2, 0.4)];
  const over = (a: number, b: number): Point =>
    ground[0]!.map((x, c) => x + (s + a) * u[c]! + (r + b) * v[c]! + (2e-9 * normal[c]!) / Math.hypot(...normal));
  const tiny = [over(0, 0), over(1e-8, 0), over(0, 1e-8)];
  const crossing = [5, 0, 0, 6, 0, 0, 5, 1, 0, 5.3, 0.3, -0.05, 5.3, 0.4, 1, 5.4, 0.3, 1];
  return {
    mesh: { vertexCount: 12, triangles: Uint32Array.from({ length: 12 }, (_, i) => i) },
    positions: Float64Array.from([...ground.flat(), ...tiny.flat(), ...crossing]),
  };
}

/** The sides of the triangle 0 1 2 on which the vertices 3, 4 and 5 lie. */
function sidesOf(x: ArrayLike<number>): number[] {
  const at = (v: number): Point => [x[3 * v]!, x[3 * v + 1]!, x[3 * v + 2]!];
  const normal = cross(minus(at(1), at(0)), minus(at(2), at(0)));
  return [3, 4, 5].map((v) => Math.sign(minus(at(v), at(0)).reduce((sum, x, c) => sum + x * normal[c]!, 0)));
}

t.test('nothing changes sides because the engine rounds the start: such a start is refused', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const counts = { refused: 0, kept: 0, swapped: 0 };
  for (let n = 0; n < 100; n++) {
    const tangle = nearby(random);
    try {
      const { positions, report } = await untangleOne(tangle, engine);
      if (report.status !== 'FREE') t.fail(`${report.status}`);
      counts[sidesOf(positions).join() === '1,1,1' ? 'kept' : 'swapped']++;
    } catch (refusal) {
      if (!(refusal instanceof IntersticeError)) throw refusal;
      t.equal(refusal.code, 'TOLERANCE_TOO_SMALL');
      t.ok(
        refusal.pairs.every(({ a, b }) => [...a, ...b].every((v) => v < 6)),
        'it names the near pairs',
      );
      t.match(refusal.hint, /float32/);
      counts.refused++;
      // In float32 there is nothing to round: pairs that meet are intersections.
      await untangleOne({ ...tangle, positions: Float32Array.from(tangle.positions) }, engine);
    }
  }
  t.equal(counts.swapped, 0);
  t.ok(counts.refused > 0 && counts.kept > 0, JSON.stringify(counts));
});

/** Two layers of a free start that are nearer than float32 can tell, and two far triangles; at rest the upper layer is half as large. */
function shrinking(random: Random) {
  const place = [900, 900, 900].map((x) => x + random.between(0, 1));
  const ground = [
    [0, 0, random.between(0.1, 0.4)],
    [1, random.between(0, 0.1), random.between(0, 0.3)],
    [random.between(0, 0.2), 1, random.between(0, 0.5)],
  ].map((p) => p.map((x, c) => x + place[c]!));
  const [u, v] = [minus(ground[1]!, ground[0]!), minus(ground[2]!, ground[0]!)];
  const normal = cross(u, v);
  const over = (a: number, b: number): Point =>
    ground[0]!.map((x, c) => x + a * u[c]! + b * v[c]! + (1e-6 * normal[c]!) / Math.hypot(...normal));
  const upper = [over(0.2, 0.2), over(0.6, 0.2), over(0.2, 0.6)];
  const far = [-1000, 1000].flatMap((x) => [x, x, x, x + 1, x, x, x, x + 1, x]);
  const positions = Float64Array.from([...ground.flat(), ...upper.flat(), ...far]);
  const rest = positions.slice();
  const middle = [0, 1, 2].map((c) => upper.reduce((sum, p) => sum + p[c]! / 3, 0));
  upper.forEach((p, n) => {
    for (const c of [0, 1, 2]) rest[9 + 3 * n + c] = middle[c]! + 0.5 * (p[c]! - middle[c]!);
  });
  return {
    mesh: {
      vertexCount: 12,
      triangles: Uint32Array.from({ length: 12 }, (_, i) => i),
      restLengths: { positions: rest },
    },
    positions,
  };
}

t.test('nor in a free start, which the pull-back moves where edges are longer than at rest', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const counts = { refused: 0, moved: 0 };
  for (let n = 0; n < 100; n++) {
    const scene = shrinking(random);
    t.same(sidesOf(scene.positions), [1, 1, 1]);
    try {
      const { positions, report } = await untangleOne(scene, engine);
      t.match(report, { status: 'FREE', piercesBefore: 0 });
      t.same(sidesOf(positions), [1, 1, 1], 'the upper layer has not passed through the lower one');
      if (positions.some((x, k) => x !== scene.positions[k])) counts.moved++;
    } catch (refusal) {
      if (!(refusal instanceof IntersticeError)) throw refusal;
      t.equal(refusal.code, 'TOLERANCE_TOO_SMALL');
      t.ok(
        refusal.pairs.every(({ a, b }) => [...a, ...b].every((v) => v < 6)),
        'it names the near pairs',
      );
      counts.refused++;
    }
  }
  t.ok(counts.refused > 0 && counts.moved > 0, JSON.stringify(counts));
});

t.test('a free start stays as it is where the time budget ends before the pull-back', async (t) => {
  const scene = shrinking(seeded(1));
  const isRefused = await untangleOne(scene, engine).then(
    () => false,
    () => true,
  );
  t.ok(isRefused);
  for (let questions = 0; questions < 3; questions++) {
    let asked = 0;
    const { report, positions } = await untangleOne(scene, engine, { timeLeft: () => (asked++ < questions ? 1 : 0) });
    t.match(report, { status: 'FREE', ended: 'TIME_BUDGET' });
    t.same(positions, scene.positions);
  }
});

t.test(
  'neighbours that are folded onto each other touch in the start already, and are no reason to refuse it',
  async (t) => {
    const [a, b, c, d] = [
      [0, 0, 0.1],
      [1, 0, 0.1],
      [0.1, 1.03, 0.1],
      [0.9, 0.7, 0.1],
    ];
    const crossing = [5, 0, 0, 6, 0, 0, 5, 1, 0, 5.3, 0.3, -0.05, 5.3, 0.4, 1, 5.4, 0.3, 1];
    const tangle = {
      mesh: { vertexCount: 10, triangles: Uint32Array.of(0, 1, 2, 0, 3, 1, 4, 5, 6, 7, 8, 9) },
      positions: Float64Array.from([a, b, c, d].flat().concat(crossing)),
    };
    t.equal((await untangleOne(tangle, engine)).report.status, 'FREE');
  },
);
