import t from 'tap';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { refusalOf, runJob } from '../support/job.js';
import { floorScene, judgeFloor, randomFloorScene, wordsOf } from '../support/large-floor.js';
import { seeded } from '../support/random.js';
import { DirectSession } from '../support/scenes.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

const engine = createCpuEngine();
const LEVEL = { tilt: 0, yaw: 0 };
const TILTED = { tilt: 0.35, yaw: 0.6 };

for (const falling of ['CLOTH', 'BOX'] as const) {
  const edge = falling === 'CLOTH' ? 0.017 : 0.1;
  for (const plane of [LEVEL, TILTED]) {
    for (const Scalar of [Float32Array, Float64Array]) {
      const name = `${falling}, ${plane === LEVEL ? 'level' : 'tilted'}, ${Scalar.name}`;
      t.test(`${name}: a plane of a kilometre needs no parameter and causes no warning`, async (t) => {
        const { mesh, start, target } = floorScene({ ...plane, falling, edge });
        for (const quality of ['FAST', 'BALANCED'] as const) {
          const { answer, faults } = await judgeFloor(
            engine,
            { mesh, start: Scalar.from(start), target: Scalar.from(target) },
            { quality },
          );
          t.same(faults, []);
          const { report } = answer;
          t.match(report, { status: 'CONVERGED', touchingPairs: 0 });
          t.same(wordsOf(report), []);
          t.ok(report.steps < 20, `${report.steps} steps`);
          // It lies on the plane: nearer than δ, at no less than half of the floor.
          const delta = report.resolved.activationDistance;
          t.ok(report.minDistance! > delta / 200 && report.minDistance! < 1.1 * delta, `${report.minDistance}`);
        }
      });
    }
  }
}

t.test('bodies falling onto a plane of any size, slope, place and unit are safe in the numbers sent', async (t) => {
  let [answered, refused] = [0, 0];
  for (let n = 0; n < 60; n++) {
    const { isDouble, ...scene } = randomFloorScene(random);
    const { mesh, start, target } = floorScene(scene);
    const Scalar = isDouble ? Float64Array : Float32Array;
    const request = { mesh, start: Scalar.from(start), target: Scalar.from(target) };
    const quality = random() < 0.5 ? 'FAST' : 'BALANCED';
    try {
      const { answer, faults } = await judgeFloor(engine, request, { quality, stepLimit: 60 });
      t.same(faults, [], `case ${n}: ${JSON.stringify(scene)}`);
      answered++;
      const delta = answer.report.resolved.activationDistance;
      const least = answer.report.minDistance;
      if (scene.height! > 0.01 * 0.01 && least !== undefined) t.ok(least > 0.004 * delta, `case ${n}: ${least}`);
    } catch (thrown) {
      // A start that is closer to the plane than its rounding is refused.
      t.match(thrown, { code: 'TOLERANCE_TOO_SMALL' }, `case ${n}: ${JSON.stringify(scene)}`);
      refused++;
    }
  }
  t.comment(`${answered} answers, ${refused} refusals`);
  t.ok(answered > 50, `${answered} answers`);
});

const falls = (scene: Parameters<typeof floorScene>[0], Scalar: typeof Float32Array | typeof Float64Array) => {
  const { mesh, start, target } = floorScene(scene);
  return { mesh, start: Scalar.from(start), target: Scalar.from(target), parameters: {} } satisfies ResolveRequest;
};

t.test(
  'a session over a large plane: the cloth slides on it, and resting vertices move only where numbers allow it',
  async (t) => {
    for (const Scalar of [Float32Array, Float64Array]) {
      for (const plane of [LEVEL, TILTED]) {
        const request = falls(plane, Scalar);
        const session = new DirectSession(request, engine);
        const { warnings } = await session.open();
        t.same(warnings, []);
        let { positions } = await session.step(request.target);
        for (let frame = 2; frame <= 5; frame++) {
          const before = positions;
          const target = request.target.map((c, k) =>
            k < 12 ? request.start[k]! : c + (k % 3 === 0 ? 0.004 * frame : 0),
          );
          const { report, ...answer } = await session.step(target);
          t.match(report, { status: 'CONVERGED', proximitySetReused: true }, `frame ${frame}`);
          t.same(wordsOf(report), []);
          ({ positions } = answer);
          t.notSame(positions, before);
        }
        // The plane sinks by a millimetre: its corners would have to be written, where float32 is as coarse as that.
        const sinking = request.target.map((c, k) => (k % 3 === 2 && k < 12 ? c - 1e-3 : c));
        const refusal = await refusalOf(session.step(sinking));
        t.match(refusal, { code: 'TOLERANCE_TOO_SMALL', hint: /rest/ });
        const { report } = await session.step(request.target);
        t.equal(report.status, 'CONVERGED', 'the session goes on from where it was');
        t.equal(session.findings.length, 0);
      }
    }
  },
);

t.test('a body that rests in one frame and moves in the next counts from then on', async (t) => {
  const { mesh, start, target } = floorScene({ ...TILTED });
  // A triangle of its own, kinematic, some hundreds of metres away.
  const far = [290, 40, 190, 290.1, 40, 190, 290, 40.1, 190];
  const joined = (positions: Float64Array) => Float64Array.from([...positions, ...far]);
  const first = mesh.vertexCount;
  const request = {
    mesh: {
      vertexCount: first + 3,
      triangles: Uint32Array.from([...mesh.triangles!, first, first + 1, first + 2]),
      kinematic: Uint8Array.from([...mesh.kinematic!, 1, 1, 1]),
    },
    start: joined(start),
    target: joined(target),
  };
  const session = new DirectSession(request, engine);
  await session.open();
  const still = await session.step(request.target);
  t.equal(still.report.status, 'CONVERGED');
  t.same(wordsOf(still.report), []);
  const moving = request.target.map((c, k) => (k >= 3 * first ? c + 0.001 : c));
  const refusal = await refusalOf(session.step(moving));
  t.match(refusal, { code: 'TOLERANCE_TOO_SMALL' }, 'at hundreds of metres float32 is too coarse for the default δ');
  const larger = await session.step(moving, { parameters: { activationDistance: 0.01 } });
  t.equal(larger.report.unreachedKinematic, 0, 'and not for a larger one');
  t.equal(session.findings.length, 0);
});

t.test('a triangle does not pass through one of 10¹⁸ edges that rests', async (t) => {
  // Corners in float32, and a plane with 0 inside the triangle. The rounding of heights in double
  // is hundreds of edges there, so that no direction proves the two triangles apart.
  const p = [2774984829576413000, 3173161970459214000, 2058516664638505000];
  const q = [-3155268518228787000, -2948023770532544500, 986571992394104800];
  const r = [-2394701140924039000, -3398300170385883000, -5103605321671115000];
  const n = unit(cross(p, q));
  const u = unit(p);
  const v = cross(n, u);
  const corner = (k: number, height: number): number[] =>
    [0, 1, 2].map((c) => 0.6 * (Math.cos(2.1 * k) * u[c]! + Math.sin(2.1 * k) * v[c]!) + height * n[c]!);
  const at = (height: number) =>
    Float32Array.from([...p, ...q, ...r, ...corner(0, height), ...corner(1, height), ...corner(2, height)]);
  const mesh = {
    vertexCount: 6,
    triangles: Uint32Array.of(0, 1, 2, 3, 4, 5),
    kinematic: Uint8Array.of(1, 1, 1, 0, 0, 0),
  };
  const parameters = { quality: 'FAST', activationDistance: 0.1 } as const;
  const { answer, findings } = await runJob({ mesh, start: at(0.5), target: at(-0.5), parameters }, engine);
  t.equal(findings.length, 0);
  for (const k of [0, 1, 2]) {
    const height = [0, 1, 2].reduce((sum, c) => sum + n[c]! * answer.positions[9 + 3 * k + c]!, 0);
    t.ok(height > 0.4, `corner ${k} is at the height ${height}`);
  }
});

const cross = ([a, b, c]: readonly number[], [d, e, f]: readonly number[]): number[] => [
  b! * f! - c! * e!,
  c! * d! - a! * f!,
  a! * e! - b! * d!,
];

function unit(vector: readonly number[]): number[] {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
