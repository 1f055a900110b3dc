import t from 'tap';
import { openTestEngine } from '../support/gpu.js';
import { refusalOf } from '../support/job.js';
import { floorScene, judgeFloor, randomFloorScene, wordsOf } from '../support/large-floor.js';
import { seeded } from '../support/random.js';
import { DirectSession } from '../support/scenes.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());

const PLANES = [
  { tilt: 0, yaw: 0 },
  { tilt: 0.35, yaw: 0.6 },
];

for (const falling of ['CLOTH', 'BOX'] as const) {
  for (const plane of PLANES) {
    for (const Scalar of [Float32Array, Float64Array]) {
      const name = `${falling}, ${plane.tilt === 0 ? 'level' : 'tilted'}, ${Scalar.name}`;
      t.test(`${name}: a plane of a kilometre needs no parameter and causes no warning`, options, async (t) => {
        const { mesh, start, target } = floorScene({ ...plane, falling, edge: falling === 'CLOTH' ? 0.017 : 0.1 });
        const request = { mesh, start: Scalar.from(start), target: Scalar.from(target) };
        const { answer, faults } = await judgeFloor(engine!, request);
        t.same(faults, []);
        const { report } = answer;
        t.match(report, { status: 'CONVERGED', touchingPairs: 0 });
        t.same(wordsOf(report), []);
        t.ok(report.steps < 20, `${report.steps} steps`);
        const delta = report.resolved.activationDistance;
        t.ok(report.minDistance! > delta / 200 && report.minDistance! < 1.1 * delta, `${report.minDistance}`);
      });
    }
  }
}

t.test('A level plane of any size holds cloth at the contact offset.', options, async (t) => {
  for (const exponent of [24, 40, 60, 66, 76, 90]) {
    const { mesh, start, target } = floorScene({ half: 2 ** exponent });
    const request = { mesh, start: Float32Array.from(start), target: Float32Array.from(target) };
    const { answer, faults } = await judgeFloor(engine!, request);
    t.same(faults, []);
    const { report } = answer;
    t.match(report, { status: 'CONVERGED', touchingPairs: 0 });
    // The contact offset is δ/8, and motions of less than δ/50 are not made.
    const delta = report.resolved.activationDistance;
    t.ok(report.minDistance! > delta / 8 - delta / 50, `2^${exponent} m: ${report.minDistance! / delta} δ`);
  }
});

t.test('bodies that fall onto a plane of any size, slope, place and unit are safe', options, async (t) => {
  let [answered, refused] = [0, 0];
  for (let n = 0; n < 25; n++) {
    const { isDouble, ...scene } = randomFloorScene(random);
    const { mesh, start, target } = floorScene(scene);
    const Scalar = isDouble ? Float64Array : Float32Array;
    const request = { mesh, start: Scalar.from(start), target: Scalar.from(target) };
    try {
      const { faults } = await judgeFloor(engine!, request, { stepLimit: 40 });
      t.same(faults, [], `case ${n}: ${JSON.stringify(scene)}`);
      answered++;
    } catch (thrown) {
      t.match(thrown, { code: 'TOLERANCE_TOO_SMALL' }, `case ${n}: ${JSON.stringify(scene)}`);
      refused++;
    }
  }
  t.comment(`${answered} answers, ${refused} refusals`);
  t.ok(answered > 18, `${answered} answers`);
});

t.test('a session over a large plane', options, async (t) => {
  const { mesh, start, target } = floorScene(PLANES[1]!);
  const session = new DirectSession({ mesh, start }, engine!);
  t.same((await session.open()).warnings, []);
  await session.step(target);
  for (let frame = 2; frame <= 4; frame++) {
    const next = target.map((c, k) => (k < 12 ? start[k]! : c + (k % 3 === 0 ? 0.004 * frame : 0)));
    const { report } = await session.step(next);
    t.match(report, { status: 'CONVERGED', proximitySetReused: true }, `frame ${frame}`);
    t.same(wordsOf(report), []);
  }
  const sinking = target.map((c, k) => (k % 3 === 2 && k < 12 ? c - 1e-3 : c));
  t.match(await refusalOf(session.step(sinking)), { code: 'TOLERANCE_TOO_SMALL', hint: /rest/ });
  t.equal((await session.step(target)).report.status, 'CONVERGED');
  t.equal(session.findings.length, 0);
});
