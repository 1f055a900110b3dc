import t from 'tap';
import { isInBox } from '../../../src/solver/cpu/boxes.js';
import { Forward, type ForwardInput } from '../../../src/solver/cpu/forward.js';
import type { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { CORNERS, EE, SIDE_A, VE, VT, VV } from '../../../src/solver/pair-kinds.js';
import { bitsOf, checkCommit, inputOf } from '../../support/forward-input.js';
import { KINDS, pairsOf } from '../../support/pair-shapes.js';
import { seeded } from '../../support/random.js';

const f = Math.fround;
const random = seeded();
t.comment(`seed ${random.seed}`);

const RULES = ['PLANAR', 'ISOTROPIC'] as const;

for (const rule of RULES) {
  t.test(`${rule}: a pair without a certificate is frozen with its bits, and no other vertex is limited`, async (t) => {
    for (const kind of KINDS) {
      const corners = CORNERS[kind];
      // The first vertices of both sides coincide; two more points are free.
      const x = Float32Array.from({ length: 3 * (corners + 2) }, () => random.between(-1, 1));
      for (let c = 0; c < 3; c++) x[c] = x[3 * SIDE_A[kind] + c];
      x[0] = -0;
      x[3 * SIDE_A[kind]] = 0;
      const y = x.map((value) => value + 0.5);
      const pairs = pairsOf([[kind, ...Array.from({ length: corners }, (_, v) => v)]]);
      const before = x.slice();
      const forward = new Forward(corners + 2);
      const input = inputOf(pairs, x, y, { rule });
      forward.advance(input);
      t.equal(forward.touching, 1);
      for (let v = 0; v < corners; v++) {
        t.strictSame(bitsOf(x, v), bitsOf(before, v));
        t.equal(forward.alpha[v], 0);
        t.equal(forward.limiter[v], 0, 'the pair is named as what limits it');
      }
      for (let v = corners; v < corners + 2; v++) {
        t.strictSame(bitsOf(x, v), bitsOf(y, v));
        t.equal(forward.alpha[v], 1);
        t.equal(forward.limiter[v], -1);
      }
    }
  });

  t.test(`${rule}: a vertex that is not marked as moving stays in place, whatever its y`, async (t) => {
    const x = Float32Array.from({ length: 12 }, () => random.between(-1, 1));
    const y = x.map((value) => value + 1);
    const before = x.slice();
    const forward = new Forward(4);
    forward.advance(inputOf(pairsOf([[VV, 0, 1]]), x, y, { rule, moving: Uint8Array.of(0, 0, 1, 0) }));
    for (const v of [0, 1, 3]) t.strictSame(bitsOf(x, v), bitsOf(before, v));
    t.strictSame(bitsOf(x, 2), bitsOf(y, 2));
    forward.advance(inputOf(pairsOf([[VV, 0, 1]]), x, y, { rule, step: 1, moving: new Uint8Array(4) }));
    t.equal(forward.largestMove, 0);
  });

  t.test(`${rule}: a vertex that arrives gets the bits of y`, async (t) => {
    const x = Float32Array.of(1, 2, 3);
    const y = Float32Array.of(-0, 0.1, 1e-45);
    const forward = new Forward(1);
    forward.advance(inputOf(pairsOf([]), x, y, { rule }));
    t.strictSame(bitsOf(x, 0), bitsOf(y, 0));
    t.equal(forward.alpha[0], 1);
  });
}

/** Two points on the z axis, a above b by the gap, sent to meet at speeds u and v. */
function headOn(
  gap: number,
  u: number,
  v: number,
  rest: Partial<ForwardInput> = {},
): { x: Float32Array; forward: Forward } {
  const x = Float32Array.of(0, 0, gap, 0, 0, 0);
  const forward = new Forward(2);
  forward.advance(inputOf(pairsOf([[VV, 0, 1]]), x, Float32Array.of(0, 0, gap - u, 0, 0, v), rest));
  return { x, forward };
}

const near = (a: number, b: number): boolean => Math.abs(a - b) < 1e-5;

t.test('planar: the sides share the room in proportion to their approach', async (t) => {
  const room = 0.9 * (1 - 0.001);
  const { forward } = headOn(1, 1, 3);
  t.ok(near(forward.alpha[0], (room * 0.25) / 1), 'a quarter for a quarter of the approach');
  t.ok(near(forward.alpha[1], (room * 0.75) / 3));
  t.strictSame([...forward.limiter], [0, 0]);
  const still = headOn(1, 2, 0);
  t.ok(near(still.forward.alpha[0], room / 2), 'all of it against something that stands still');
  t.ok(near(still.x[2], 1 - room));
  const retreat = headOn(1, 2, -1);
  t.ok(near(retreat.forward.alpha[0], room / 2), 'or goes away');
  const kept = headOn(1, 1, 3, { keptGap: 0.4 });
  t.ok(near(kept.forward.alpha[0], 0.9 * 0.6 * 0.25), 'of what is beyond the gap that the step leaves');
  t.equal(headOn(0.3, 1, 3, { keptGap: 0.4 }).forward.largestMove, 0, 'and nothing of a smaller gap');
  t.ok(near(headOn(1, 1, 3, { keptGap: 1e-9 }).forward.alpha[0], room * 0.25), 'never less than the floor');
  t.equal(retreat.forward.alpha[1], 1);
});

t.test('planar: the approach counts only as far as the guard permits', async (t) => {
  const x = Float32Array.of(0, 0, 1, 0, 0, 0);
  const box = Float32Array.of(-1, -1, 0, 1, 1, 1, -1, -1, -1, 1, 1, 1);
  // Vertex 0 wants to go 1000 down but may go 1; vertex 1 goes 1 up.
  const forward = new Forward(2);
  forward.advance(inputOf(pairsOf([[VV, 0, 1]]), x, Float32Array.of(0, 0, -999, 0, 0, 1), { box }));
  t.ok(near(x[2], 1 - 0.45 * 0.999) && near(x[5], 0.45 * 0.999), `both get half: ${x[2]}, ${x[5]}`);
});

t.test('planar: a vertex that lags behind the front of its side has correspondingly more room', async (t) => {
  // An edge comes down on a point below its near end; the far end is 0.5 higher.
  const x = Float32Array.of(0, 0, 0, 0, 0, 1, 1, 0, 1.5);
  const y = Float32Array.of(0, 0, 0, 0, 0, -2, 1, 0, -1.5);
  const forward = new Forward(3);
  forward.advance(inputOf(pairsOf([[VE, 0, 1, 2]]), x, y));
  t.ok(near(forward.alpha[1], (0.9 * 0.999) / 3), `the front: ${forward.alpha[1]}`);
  t.ok(near(forward.alpha[2], (0.9 * 0.999 + 0.9 * 0.5) / 3), `behind it: ${forward.alpha[2]}`);
});

t.test('isotropic: no vertex of a pair goes farther than half the room, in any direction', async (t) => {
  const half = 0.45 * (1 - 0.001);
  const toward = headOn(1, 1, 3, { rule: 'ISOTROPIC' });
  t.ok(near(toward.forward.alpha[0], half) && near(toward.forward.alpha[1], half / 3));
  const away = headOn(1, -4, 0, { rule: 'ISOTROPIC' });
  t.ok(near(away.forward.alpha[0], half / 4), 'not even away');
});

t.test('the floor remains: nothing approaches from below it, and repeated steps end at it', async (t) => {
  const floor = f(0.01);
  for (const rule of RULES) {
    const under = headOn(0.009, 1, 1, { rule, floor });
    t.strictSame([...under.forward.alpha], [0, 0]);
    const x = Float32Array.of(0, 0, 1, 0, 0, 0);
    const forward = new Forward(2);
    const pairs = pairsOf([[VV, 0, 1]]);
    for (let step = 0; step < 60; step++)
      forward.advance(inputOf(pairs, x, Float32Array.of(0, 0, -5, 0, 0, 1), { rule, floor, step }));
    t.ok(x[2] - x[5] >= floor - 1e-6 && x[2] - x[5] < 1.01 * floor, `${x[2] - x[5]} is left`);
  }
  const leaving = headOn(0.005, -1, -1, { floor });
  t.strictSame([...leaving.forward.alpha], [1, 1], 'planar: parting is free from anywhere');
});

t.test('a normal of an earlier step makes a pair skippable only if it stays apart to the end', async (t) => {
  const step = 7;
  const run = (target: number, normal: readonly number[]): { forward: Forward; pairs: PairSet; x: Float32Array } => {
    const pairs = pairsOf([[VV, 0, 1]]);
    pairs.normal.set(normal);
    const x = Float32Array.of(0, 0, 10, 0, 0, 0);
    const forward = new Forward(2);
    forward.advance(inputOf(pairs, x, Float32Array.of(0, 0, target, 0, 0, 0), { step }));
    return { forward, pairs, x };
  };
  const clear = run(1, [0, 0, 1]);
  t.equal(clear.forward.alpha[0], 1, 'stays well apart: free');
  t.not(clear.pairs.stamp[0], step, 'and no geometry was needed');
  const through = run(-10, [0, 0, 1]);
  t.ok(through.x[2] > 0.9, `sent to the other side, it stops at ${through.x[2]}`);
  t.equal(through.pairs.stamp[0], step);
  const close = run(0.05, [0, 0, 1]);
  t.ok(close.x[2] > 0.9, 'or within δ');
  for (const useless of [
    [0, 0, -1],
    [1, 0, 0],
    [0, 0, 0],
  ]) {
    t.ok(run(-10, useless).x[2] > 0.9, `a normal that shows nothing spares nothing: ${useless}`);
  }
});

t.test('guard BOXES: no vertex leaves its box, however long its motion is', async (t) => {
  const count = 200;
  for (const travel of [0.5, 1e3, 1e20, 3e38]) {
    const x = Float32Array.from({ length: 3 * count }, () => random.between(-4, 4));
    const y = x.map(() => travel * random.between(-1, 1));
    const box = new Float32Array(6 * count);
    for (let k = 0; k < 3 * count; k++) {
      const q = 6 * Math.floor(k / 3) + (k % 3);
      // Some stand on a face; some faces are so close that α sinks into the subnormals.
      box[q] = x[k] - (random() < 0.1 ? 0 : 10 ** random.between(-6, 0));
      box[q + 3] = x[k] + (random() < 0.1 ? 0 : 10 ** random.between(-6, 0));
    }
    const forward = new Forward(count);
    const before = x.slice();
    const input = inputOf(pairsOf([]), x, y, { box });
    forward.advance(input);
    for (let v = 0; v < count; v++) {
      if (!isInBox(box, v, x)) t.fail(`travel ${travel}: vertex ${v} left its box`);
      const arrives = isInBox(box, v, y);
      if (arrives !== (forward.alpha[v] === 1)) t.fail(`travel ${travel}: vertex ${v} has α = ${forward.alpha[v]}`);
    }
    if (travel < 1e30) checkCommit(t, forward, before, input);
  }
  t.pass('800 vertices');
});

t.test('guard RADIUS: no vertex moves farther than γ (D − floor)/2, and none once D is used up', async (t) => {
  const count = 100;
  for (const [radius, floor] of [
    [0.4, 0.01],
    [0.01, 0.01],
    [-0.2, 0.01],
  ]) {
    const x = Float32Array.from({ length: 3 * count }, () => random.between(-1, 1));
    const y = x.map((value) => value + random.between(-1, 1) * 10 ** random.between(-3, 3));
    const before = x.slice();
    const forward = new Forward(count);
    const input = inputOf(pairsOf([]), x, y, { radius, floor: f(floor) });
    forward.advance(input);
    checkCommit(t, forward, before, input);
    const cap = 0.45 * Math.max(0, radius - floor);
    t.ok(forward.largestMove <= cap * (1 + 1e-5) + 1e-7, `${forward.largestMove} of ${cap}`);
    if (cap > 0) t.ok(forward.largestMove > 0.99 * cap);
  }
});

t.test('only active pairs are bounded', async (t) => {
  const x = Float32Array.of(0, 0, 1, 0, 0, 0, 5, 0, 1, 5, 0, 0);
  const y = Float32Array.of(0, 0, -1, 0, 0, 0, 5, 0, -1, 5, 0, 0);
  const pairs = pairsOf([
    [VV, 0, 1],
    [VV, 2, 3],
    [EE, 0, 1, 2, 3],
  ]);
  const forward = new Forward(4);
  forward.advance(inputOf(pairs, x, y, { active: Uint32Array.of(1, 0, 2), activeCount: 1 }));
  t.equal(forward.alpha[0], 1);
  t.ok(forward.alpha[2] < 0.5);
});

/** Two points that fly off along each other, so far that their gap is less than a float's last bit there. */
t.test('a pair is not skipped if the written positions may be rounded by more than its distance', async (t) => {
  const normal = f(Math.SQRT1_2);
  let met = 0;
  for (let n = 0; n < 300; n++) {
    const gap = random.between(0.2, 0.4);
    const away = 10 ** random.between(6.5, 8);
    const x = Float32Array.of(gap / 2, -gap / 2, 0, 0, 0, 0);
    const y = Float32Array.of(away, away, 0, away, away, 0);
    // Half of the way, at whose end the gap is halved.
    const half = f(random.between(0.4, 0.6) * away);
    const box = Float32Array.from([0, 1].flatMap(() => [-1, -1, -1, half, half, 1]));
    const pairs = pairsOf([]);
    pairs.push(VV, 0, 1, -1, -1, normal, -normal, 0);
    pairs.stamp[0] = 0;
    const forward = new Forward(2);
    forward.advance(inputOf(pairs, x, y, { step: 9, box, delta: f(0.05) }));
    if (!(x[0] - x[1] > x[3] - x[4])) met++;
  }
  t.equal(met, 0, 'none has come to the other, or past it');
});

t.test('a pair is not skipped if the rounding of its heights may exceed its distance', async (t) => {
  // The plane x + y + z = 0 through far corners, and a vertex that moves through it. Along (1, 1, 1)/√3 the corners are at
  // the heights of rounding alone: at 10¹⁶ a few units, in double.
  const c = f(1 / Math.sqrt(3));
  const forward = new Forward(4);
  let crossed = 0;
  for (let n = 0; n < 1000; n++) {
    const size = 10 ** random.between(15.6, 17);
    const unit = 2 ** (Math.floor(Math.log2(size)) - 20);
    const place = () => unit * Math.round((size * random.between(-1, 1)) / unit);
    const [px, py, qx, qy] = [place(), place(), place(), place()];
    const corners = [px, py, -px - py, qx, qy, -qx - qy, -px - qx, -py - qy, px + py + qx + qy];
    const [u, v] = [random.between(-1, 1), random.between(-1, 1)];
    const at = (height: number) => [u + c * height, v + c * height, -u - v + c * height];
    const x = Float32Array.from([...at(random.between(0.15, 0.6)), ...corners]);
    const y = Float32Array.from([...at(-random.between(0.01, 0.2)), ...corners]);
    const pairs = pairsOf([]);
    pairs.push(VT, 0, 1, 2, 3, c, c, c);
    pairs.stamp[0] = 0;
    forward.advance(inputOf(pairs, x, y, { step: 9 }));
    if (x[0] + x[1] + x[2] < 0) crossed++;
  }
  t.equal(crossed, 0, 'none has passed through the plane');
});
