import t from 'tap';
import { buildMesh } from '../../src/mesh/build.js';
import { cutTo } from '../../src/solver/cut-target.js';
import { CoordinateFrame, FLOORS_PER_DELTA, floorOf } from '../../src/solver/frame.js';
import { isCovered, rangeOf } from '../../src/solver/range.js';
import { findResting } from '../../src/solver/resting.js';
import { seeded } from '../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

/** A small triangle over a large kinematic one, tilted so that its corners have no short numbers. */
function overPlane(half: number, isDouble: boolean) {
  const mesh = buildMesh({
    vertexCount: 7,
    triangles: Uint32Array.of(0, 1, 2, 3, 4, 5),
    kinematic: Uint8Array.of(1, 1, 1, 0, 0, 0, 1),
  });
  const [c, s] = [Math.cos(0.4), Math.sin(0.4)];
  const plane = [-half, -half * c, -half * s, half, -half * c, -half * s, 0, half * c, half * s];
  const positions = [...plane, 0, 0, 0.01, 0.02, 0, 0.01, 0, 0.02, 0.02, 9, 9, 9];
  return { mesh, start: isDouble ? Float64Array.from(positions) : Float32Array.from(positions) };
}

t.test('a vertex rests if it is kinematic and its target equals its start as numbers', async (t) => {
  const { mesh, start } = overPlane(500, false);
  const target = Float64Array.from(start, (x, k) => (k >= 9 && k < 18 ? x - 0.1 : x));
  const resting = findResting(mesh, start, target)!;
  t.same([...resting.marks], [1, 1, 1, 0, 0, 0, 1]);
  t.same(resting.start, Array.from(Float32Array.of(0, 0, 0.01, 0.02, 0.02, 0.02)), 'bounds of the others');
  t.equal(resting.target[2], start[11]! - 0.1);

  target[4] += 1e-9;
  const moved = findResting(mesh, start, target)!;
  t.same([...moved.marks], [1, 0, 1, 0, 0, 0, 1], 'the least motion counts');
  t.equal(moved.start[3], 500);

  t.equal(
    findResting(
      mesh,
      start,
      start.map((x) => x + 1),
    ),
    undefined,
    'nothing rests',
  );
  const all = buildMesh({ vertexCount: 3, triangles: Uint32Array.of(0, 1, 2), kinematic: Uint8Array.of(1, 1, 1) });
  const still = start.slice(0, 9);
  t.equal(findResting(all, still, still), undefined, 'everything rests: there is nothing to fit to');
});

t.test('η is the distance between a resting vertex and its image', async (t) => {
  const exact = overPlane(500, false);
  const centred = CoordinateFrame.fit(exact.start, 0.02, [-0.01, -0.01, 0, 0.02, 0.02, 0.02]);
  t.equal(findResting(exact.mesh, exact.start, exact.start)!.roundingUnder(centred), 0, 'the map is a multiplication');

  const { mesh, start } = overPlane(500, true);
  const frame = CoordinateFrame.fit(start, 0.02, [0, 0, 0.01, 0.02, 0.02, 0.02]);
  const image = frame.toDouble(frame.toEngine(start));
  const far = Math.max(
    ...[0, 1, 2].map((v) => Math.hypot(...[0, 1, 2].map((k) => image[3 * v + k]! - start[3 * v + k]!))),
  );
  const eta = findResting(mesh, start, start)!.roundingUnder(frame);
  t.ok(far > 1e-6 && Math.abs(eta - far) < 1e-10, `${eta}, ${far}`);
});

t.test('a floor over resting vertices is at least 2.75 η, and is refused with the reason', async (t) => {
  const { mesh, start } = overPlane(500, true);
  const resting = findResting(mesh, start, start)!;
  const frame = CoordinateFrame.fit(start, 0.02, resting.start);
  const eta = resting.roundingUnder(frame);
  const { floor } = rangeOf(0.002, frame, resting.start, undefined, 'FLOAT64', resting);
  t.equal(floor, Math.max(2.75 * eta, 0.002 / 100 + 2 * eta) * frame.scale);
  t.throws(() => rangeOf(30 * eta, frame, resting.start, undefined, 'FLOAT64', resting), {
    code: 'TOLERANCE_TOO_SMALL',
    message: /rounds the coordinates of resting vertices/,
  });
  const near = overPlane(500, false);
  const rounded = findResting(near.mesh, near.start, near.start)!;
  const exact = CoordinateFrame.fit(near.start, 0.02, [-0.01, -0.01, 0, 0.02, 0.02, 0.02]);
  t.equal(
    rangeOf(0.002, exact, rounded.start, undefined, 'FLOAT32', rounded).floor,
    floorOf(0.002, exact.over(rounded.start), 'FLOAT32'),
  );
});

t.test('resting vertices may lie outside the safe range, and are never cut', async (t) => {
  const { mesh, start } = overPlane(500, true);
  const target = start.map((x, k) => (k === 17 ? 1e9 : x));
  const resting = findResting(mesh, start, target)!;
  const frame = CoordinateFrame.fit(start, 0.02, resting.start);
  const range = rangeOf(0.002, frame, resting.start, resting.target, 'FLOAT64', resting);
  const [x, y] = [frame.toEngine(start), frame.toEngine(target)];
  t.ok(isCovered(mesh, x, range));
  t.notOk(isCovered(mesh, y, range));
  t.notOk(isCovered(mesh, x, { ...range, resting: undefined }));
  const { share, count } = cutTo(range.cut!, mesh, x, y, FLOORS_PER_DELTA * range.floor);
  t.equal(count, 1);
  t.same([...share.subarray(0, 5)], [1, 1, 1, 1, 1]);
});

t.test('half a floor from a rounded resting vertex, nothing meets on the way into the numbers sent', async (t) => {
  let [tried, closest] = [0, Number.POSITIVE_INFINITY];
  for (let round = 0; round < 4000; round++) {
    const isDouble = random() < 0.5;
    const scalar = isDouble ? 'FLOAT64' : 'FLOAT32';
    const { mesh, start } = overPlane(10 ** random.between(1, 3), true);
    const resting = findResting(mesh, start, start)!;
    const frame = CoordinateFrame.fit(start, 0.02, resting.start);
    const eta = resting.roundingUnder(frame);
    const delta = 44.1 * eta * (random() < 0.5 ? 1 : 10 ** (2 * random()));
    const goal = resting.start.map((c) => c + delta * 10 ** (4 * random()) * (random() - 0.5));
    const bounds = [0, 1, 2].map((k) => Math.min(goal[k]!, goal[k + 3]!));
    const target = [
      ...bounds,
      ...[0, 1, 2].map((k) => Math.max(goal[k]!, goal[k + 3]!)),
    ] as unknown as typeof resting.start;
    const { floor, safe } = rangeOf(delta, frame, resting.start, target, scalar, resting);
    // A vertex at the ends of what is safe, and the image of a resting one half a floor away that is η from its vertex.
    const direction = [0, 1, 2].map(() => random() - 0.5);
    const norm = Math.hypot(...direction);
    const one = Float32Array.from(
      [0, 1, 2].map((k) => safe![random() < 0.5 ? k : k + 3]! * (random() < 0.7 ? 1 : random())),
    );
    const wanted = frame.toDouble(one).map((c) => c * (1 + (random() - 0.5) * 2 ** -22));
    const targetSent = isDouble ? wanted : Float32Array.from(wanted);
    const targetEngine = frame.toEngine(targetSent, 'target');
    const engine = random() < 0.5 ? targetEngine : one;
    if (!engine.every((c, k) => c >= safe![k]! && c <= safe![k + 3]!)) continue;
    const nowhere = new Float32Array(3).fill(Number.MAX_VALUE);
    const sent = frame.toCaller({
      engine,
      start: targetSent.map(() => 0),
      startEngine: nowhere,
      target: targetSent,
      targetEngine,
    });
    const exact = frame.toDouble(engine);
    const moved = direction.reduce((sum, d, k) => sum + (sent[k]! - exact[k]!) * (d / norm), 0) * frame.scale;
    tried++;
    closest = Math.min(closest, (floor / 2 - Math.abs(moved) - eta * frame.scale) / floor);
  }
  t.ok(tried > 500, `${tried} pairs`);
  t.ok(closest > 0, `the closest came to ${closest} floors`);
});
