import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import type { Positions } from '../../src/contract/mesh.js';
import type { MeshMeasures } from '../../src/mesh/types.js';
import { CoordinateFrame, floorOf } from '../../src/solver/frame.js';
import { seeded } from '../support/random.js';

function boundsOf(positions: Positions): MeshMeasures['bounds'] {
  const side = (k: number, pick: (...values: number[]) => number) =>
    pick(...Array.from(positions).filter((_, i) => i % 3 === k));
  const [lowest, highest] = [Math.min, Math.max];
  return [side(0, lowest), side(1, lowest), side(2, lowest), side(0, highest), side(1, highest), side(2, highest)];
}

function fit(positions: Positions, medianEdge: number): CoordinateFrame {
  return CoordinateFrame.fit(positions, medianEdge, boundsOf(positions));
}

function caught(act: () => unknown): IntersticeError {
  try {
    act();
  } catch (error) {
    if (error instanceof IntersticeError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

t.test('the median edge lands in [1, 2) by a power of two', async (t) => {
  for (const edge of [1, 1.999, 2, 0.01, 0.0078125, 1e-30, 3e25, 5e-310 * 2 ** 200]) {
    const { scale } = fit(Float32Array.of(0, 0, 0, 1, 1, 1), edge);
    t.equal(Math.log2(scale) % 1, 0, `scale ${scale} is a power of two`);
    t.ok(edge * scale >= 1 && edge * scale < 2, `edge ${edge} becomes ${edge * scale}`);
  }
  t.equal(fit(Float32Array.of(0, 0, 0, 6, 0, 0), 0).scale, 0.25, 'without edges the extent counts');
  t.equal(fit(Float32Array.of(5, 5, 5), 0).scale, 1, 'a single point needs no scale');
  t.equal(caught(() => fit(Float64Array.of(0, 0, 0, 1e-290, 0, 0), 1e-290)).code, 'COORDINATE_RANGE');
});

t.test('a float32 start is mapped without rounding, centred or not', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 200; round++) {
    const size = 2 ** Math.floor(random() * 40 - 20);
    const isCentred = round % 2 === 0;
    const sign = round % 4 === 0 ? -1 : 1;
    const start = Float32Array.from({ length: 300 }, () => sign * size * (isCentred ? 1 + random() : random() * 8 - 4));
    const frame = fit(start, size / 100);
    t.equal(
      frame.origin.every((o) => o !== 0),
      isCentred,
    );
    const engine = frame.toEngine(start);
    if (!frame.isExact(start, engine)) t.fail('the start was rounded');
    const lost = frame.toDouble(engine).findIndex((x, i) => x !== start[i]);
    if (lost >= 0) t.fail(`coordinate ${lost} does not map back`);
  }
});

t.test('an image is recognised bit for bit, including −0 and subnormals', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 50; round++) {
    const isSingle = round % 2 === 0;
    const values = Array.from({ length: 30 }, () => (random() < 0.2 ? 0 : 20 * random() - 10));
    const positions = isSingle ? Float32Array.from(values) : Float64Array.from(values);
    const frame = fit(positions, 0.01);
    const engine = frame.toEngine(positions);
    t.ok(frame.isImage(positions, engine));
    const k = random.int(30);
    const changed = engine.slice();
    changed[k] = engine[k] === 0 ? -0 : Math.fround(engine[k]! * (1 + 2 ** -23));
    t.notOk(frame.isImage(positions, changed), `coordinate ${k} of round ${round}`);
    const box = frame.mapInto(changed, positions);
    t.same(box, boundsOf(positions));
    t.same(changed, engine);
  }
  const frame = fit(Float32Array.of(0, 0, 0, 1, 1, 1), 1);
  const tiny = Float32Array.of(2 ** -140, -(2 ** -140), -0);
  t.ok(frame.isImage(tiny, Float32Array.of(0, 0, 0)));
  t.notOk(frame.isImage(tiny, Float32Array.of(2 ** -140, 0, 0)));
});

t.test('the origin of an axis is its centre exactly if that costs no bit', async (t) => {
  const originOf = (min: number, max: number) => fit(Float32Array.of(min, 0, 0, max, 0, 0), 1).origin[0];
  t.equal(originOf(10, 20), 15);
  t.equal(originOf(-20, -10), -15);
  t.equal(originOf(10, 20.001), 0);
  t.equal(originOf(-1, 1), 0);
  t.equal(originOf(0, 1), 0);
  t.equal(originOf(3, 3), 3);
  t.same(fit(Float64Array.of(0, -1, 5, 1, 1, 1000), 1).origin, [0.5, 0, 502.5], 'float64: always the centre');
});

t.test('float64 coordinates are rounded after centring, and isExact says so', async (t) => {
  const start = Float64Array.of(1e6 + 0.1, 0, 0, 1e6 + 0.5, 1, 1);
  const frame = fit(start, 0.3);
  const engine = frame.toEngine(start);
  t.notOk(frame.isExact(start, engine));
  const back = frame.toDouble(engine);
  for (const [i, x] of back.entries()) {
    t.ok(Math.abs(x - start[i]!) < 1e-7, `coordinate ${i} is off by ${x - start[i]!}`);
  }
  const dyadic = Float64Array.of(0.25, 0.5, 0.75, 1.25, 1.5, 1.75);
  t.ok(fit(dyadic, 1).isExact(dyadic, fit(dyadic, 1).toEngine(dyadic)));
  // The subtraction itself rounds: 2⁻⁶⁰ is lost beside 1.
  const tiny = Float64Array.of(-1, 0, 0, 3, 0, 0, 2 ** -60, 0, 0);
  t.equal(fit(tiny, 1).toEngine(tiny)[6], -1);
  t.notOk(fit(tiny, 1).isExact(tiny, fit(tiny, 1).toEngine(tiny)));
});

t.test('subnormals and −0 become +0', async (t) => {
  const start = Float32Array.of(2 ** -130, -0, 1, -(2 ** -149), 0, -1);
  const frame = fit(start, 1);
  const engine = frame.toEngine(start);
  t.ok([0, 1, 3, 4].every((i) => Object.is(engine[i], 0)));
  t.notOk(frame.isExact(start, engine), 'flushing is rounding');
  t.equal(frame.toEngine(Float32Array.of(2 ** -126, 0, 0))[0], 2 ** -126, 'the smallest normal number stays');
});

t.test('coordinates that float32 cannot represent are refused, and the vertex is named', async (t) => {
  const frame = fit(Float32Array.of(0, 0, 0, 1e-9, 0, 0), 1e-9);
  const error = caught(() => frame.toEngine(Float32Array.of(0, 0, 0, 0, 1e30, 0), 'target'));
  t.equal(error.code, 'COORDINATE_RANGE');
  t.match(error.message, /Vertex 1 of target/);
  t.same(error.element, { kind: 'vertex', index: 1, vertices: [1] });
});

t.test('answers are mapped back to the caller’s coordinates', async (t) => {
  // Axis x is centred at 15.25, so a target of 1e-3 there is rounded on the way in.
  const start = Float32Array.of(10.5, -0, 1, 12.25, 0, 1, 20, 0, 2);
  const target = Float64Array.of(10.5, 5, 1, 1e-3, 0, 1, 20.5, 0, 2);
  const frame = fit(start, 1);
  const startEngine = frame.toEngine(start);
  const targetEngine = frame.toEngine(target);
  const engine = Float32Array.of(
    ...startEngine.subarray(0, 3),
    ...targetEngine.subarray(3, 6),
    ...startEngine.subarray(6, 9).map((x, i) => (x + targetEngine[6 + i]!) / 2),
  );
  const answer = frame.toCaller({ engine, startEngine, targetEngine, start, target });
  t.ok(answer instanceof Float64Array, 'the scalar of the target');
  t.same(Array.from(answer.subarray(0, 3)), [10.5, -0, 1]);
  t.ok(Object.is(answer[1], -0), 'unmoved: the bits of the start');
  t.same(Array.from(answer.subarray(3, 6)), [1e-3, 0, 1], 'arrived: the bits of the target');
  t.not(frame.toDouble(targetEngine)[3], 1e-3, 'which the engine had rounded');
  t.same(Array.from(answer.subarray(6, 9)), [20.25, 0, 2], 'on the way: o + x_e/s');
});

t.test('a vertex moves as a whole: one coordinate of the start is not the start', async (t) => {
  const start = Float64Array.of(0.1, 0.1, 0.1, 1, 1, 1);
  const target = Float64Array.of(0.1, 0.1, 0.9, 1, 1, 1);
  const frame = fit(start, 1);
  const [startEngine, targetEngine] = [frame.toEngine(start), frame.toEngine(target)];
  const engine = startEngine.slice();
  engine[2] = frame.toEngine(Float64Array.of(0, 0, 0.5))[2]!;
  const answer = frame.toCaller({ engine, startEngine, targetEngine, start, target });
  t.equal(answer[0], frame.toDouble(engine)[0]);
  t.not(answer[0], 0.1, 'the tiny piece was checked at the start; the engine moved on from there');
});

t.test('a motion too small for the engine leaves the vertex at its start', async (t) => {
  const start = Float64Array.of(0, 0, 0, 1, 1, 1);
  const target = Float64Array.of(0, 0, 0, 1, 1, 1 + 1e-12);
  const frame = fit(start, 1);
  const [startEngine, targetEngine] = [frame.toEngine(start), frame.toEngine(target)];
  t.same(targetEngine, startEngine);
  t.same(frame.toCaller({ engine: targetEngine, startEngine, targetEngine, start, target }), start);
});

t.test('a float64 start answered in float32 keeps the numbers that exist there', async (t) => {
  const start = Float64Array.of(0.1, 0.2, 0.3, 0.5, 0.25, 8);
  const target = Float32Array.of(1, 1, 1, 1, 1, 1);
  const frame = fit(start, 1);
  const [startEngine, targetEngine] = [frame.toEngine(start), frame.toEngine(target)];
  const answer = frame.toCaller({ engine: startEngine, startEngine, targetEngine, start, target });
  t.ok(answer instanceof Float32Array);
  t.same(Array.from(answer.subarray(3)), [0.5, 0.25, 8]);
  t.same(
    answer.subarray(0, 3),
    Float32Array.from(frame.toDouble(startEngine).subarray(0, 3)),
    'the engine\u2019s number, rounded',
  );
});

t.test('the floor covers the rounding of coordinates', async (t) => {
  const near = fit(Float32Array.of(-1, -1, -1, 1, 1, 1), 1);
  t.equal(floorOf(0.1, near, 'FLOAT32'), 0.001, 'δ/100 near the origin');
  t.equal(
    floorOf(
      0.1 / 1024,
      fit(
        Float32Array.of(-1, 0, 0, 1, 0, 0).map((x) => x / 1024),
        1 / 1024,
      ),
      'FLOAT64',
    ),
    0.001,
  );

  const wide = fit(Float32Array.of(-1000, 0, 0, 1000, 0, 0), 1);
  const storage = 8 * Math.sqrt(3) * 2 ** -23 * 1000;
  t.equal(floorOf(0.1, wide, 'FLOAT64'), storage, 'writing float32 at X');
  t.ok(floorOf(0.1, wide, 'FLOAT64') > 0.001);

  // Centred at 1500, the engine sees ±500, but the answer is rounded at 2000.
  const away = fit(Float32Array.of(1e6, 0, 0, 1e6 + 64, 0, 0), 64);
  t.equal(floorOf(8, away, 'FLOAT32'), (4 * 2 ** (19 - 23)) / 64, '4 ulp of float32 at 1e6');
  t.equal(floorOf(8, away, 'FLOAT64'), 8 / 100 / 64, 'none of it in float64');
});

t.test('a δ at which rounding would decide is refused with the smallest sufficient one', async (t) => {
  const away = fit(Float32Array.of(1e6, 0, 0, 1e6 + 1, 0, 0), 1);
  const error = caught(() => floorOf(0.1, away, 'FLOAT32'));
  t.equal(error.code, 'TOLERANCE_TOO_SMALL');
  const smallest = Number(/must be at least ([\d.e+-]+?)\.$/.exec(error.message)?.[1]);
  t.equal(smallest, 4);
  t.doesNotThrow(() => floorOf(smallest, away, 'FLOAT32'), 'and that one does');
  t.throws(() => floorOf(smallest * 0.98, away, 'FLOAT32'));
  t.doesNotThrow(() => floorOf(0.1, away, 'FLOAT64'));
  t.match(error.hint, /send float64/);
  const doubles = fit(Float64Array.of(1e12, 0, 0, 1e12 + 1, 0, 0), 1);
  const still = caught(() => floorOf(1e-3, doubles, 'FLOAT64'));
  t.match(still.hint, /move the mesh closer/);
  t.notMatch(still.hint, /float64/, 'what was done is not advised');
  for (const scalar of ['FLOAT32', 'FLOAT64'] as const) {
    const { hint } = caught(() => floorOf(1e-6, fit(Float32Array.of(-1, 0, 0, 1, 0, 0), 1), scalar));
    t.match(hint, /smaller extent/);
    t.notMatch(hint, /float64|origin/, 'the engine computes in float32, and has centred the mesh');
  }

  const random = seeded();
  t.comment(`seed ${random.seed}`);
  for (let k = 0; k < 100; k++) {
    const size = 1e4 * (1 + random());
    const frame = fit(Float32Array.of(-size, 0, 0, size, 0, 0), 1);
    const { message } = caught(() => floorOf(1e-3, frame, 'FLOAT32'));
    const said = Number(/must be at least ([\d.e+-]+?)\.$/.exec(message)?.[1]);
    t.ok(said > 1e-3, message);
    t.doesNotThrow(() => floorOf(said, frame, 'FLOAT32'), `the δ named, ${said}, is accepted`);
  }
});

t.test('subnormal numbers of float32 have one ulp, and a δ below 64 of it is refused', async (t) => {
  const ulp = 2 ** -149;
  const tiny = fit(Float32Array.of(-512 * ulp, 0, 0, 512 * ulp, 0, 0), 512 * ulp);
  const { message, hint } = caught(() => floorOf(63 * ulp, tiny, 'FLOAT32'));
  t.match(message, /subnormal numbers.*at least 8\.97e-44/);
  t.match(hint, /at least 8\.97e-44, send float64, or choose a smaller unit\./);
  t.equal(floorOf(64.1 * ulp, tiny, 'FLOAT32') / tiny.scale, 4 * ulp);
  t.equal(floorOf(ulp, tiny, 'FLOAT64') / tiny.scale, ulp / 100, 'doubles are fine there');
});

t.test('un-centring cannot close the half of the floor that an engine keeps', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const start = Float32Array.of(1e5, 0, 0, 1e5 + 64, 0, 0);
  const frame = fit(start, 16);
  const ulp = 2 ** (16 - 23);
  const floor = (floorOf(0.8, frame, 'FLOAT32') / frame.scale) * (1 + 2 ** -20);
  t.ok(floor < 4.001 * ulp, 'here the floor is the rounding of the answer and nothing else');
  const target = start.map((x) => x + 1);
  const [startEngine, targetEngine] = [frame.toEngine(start), frame.toEngine(target)];
  for (let k = 0; k < 2000; k++) {
    const a = random() * 60;
    const pair = frame.toEngine(Float64Array.of(1e5 + a, 0, 0, 1e5 + a + floor / 2, 0, 0));
    const answer = frame.toCaller({ engine: pair, startEngine, targetEngine, start, target });
    if (!(answer[3]! > answer[0]!)) t.fail(`at ${a} the gap is ${answer[3]! - answer[0]!} of ${floor}`);
  }
  t.pass('2000 pairs');
});
