import t from 'tap';
import { Forward } from '../../../src/solver/cpu/forward.js';
import { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { ProgressWatch } from '../../../src/solver/cpu/progress-watch.js';
import { VV } from '../../../src/solver/pair-kinds.js';
import { makeSettings } from '../../support/settings.js';

const settings = makeSettings({ delta: 0.1 });
const COUNT = 100;

/** What one forward step left behind: nobody stopped, everybody moving and unfinished, no pair in anybody's way. */
function makeStep(count = COUNT): { residual: Float32Array; forward: Forward; moving: Uint8Array; pairs: PairSet } {
  const forward = new Forward(count);
  forward.alpha.fill(0.5);
  forward.alphaGuard.fill(1);
  forward.limiter.fill(-1);
  return {
    residual: new Float32Array(count).fill(1),
    forward,
    moving: new Uint8Array(count).fill(1),
    pairs: new PairSet(),
  };
}

type Step = ReturnType<typeof makeStep>;

/** These vertices went as far as their trust box let them. */
function stopAtBox({ forward }: Step, from: number, to: number, share = 0.4): void {
  forward.alphaGuard.fill(share, from, to);
  forward.alpha.fill(share, from, to);
}

const asks = (watch: ProgressWatch, { residual, forward, moving, pairs }: Step): boolean =>
  watch.wantsSearch(residual, forward, moving, pairs);

function begin(count = COUNT): ProgressWatch {
  const watch = new ProgressWatch(count, settings);
  watch.begin(new Float32Array(3 * count), new Float32Array(count).fill(1));
  return watch;
}

t.test('a search is requested when boxes stop a tenth of the unfinished vertices', async (t) => {
  for (const [stopped, expected] of [
    [0, false],
    [9, false],
    [10, true],
    [100, true],
  ] as const) {
    const step = makeStep();
    stopAtBox(step, 0, stopped);
    t.equal(asks(begin(), step), expected, `${stopped} of ${COUNT}`);
  }
});

t.test('only unfinished vertices count', async (t) => {
  const step = makeStep();
  stopAtBox(step, 0, 5);
  step.residual.fill(settings.epsilon / 2, 50);
  t.equal(asks(begin(), step), true, 'five of fifty');
  step.residual.fill(0, 0, 5);
  t.equal(asks(begin(), step), false, 'those that stopped had arrived');
  step.residual.fill(1.001 * settings.epsilon, 0, 5);
  t.equal(asks(begin(), step), true, 'from ε on it is unfinished');
});

t.test(
  'a vertex that a contact stops, or that does not want to move, does not count as stopped by its box',
  async (t) => {
    const step = makeStep();
    step.forward.alphaGuard.fill(0.4);
    step.forward.alpha.fill(0.3);
    t.equal(asks(begin(), step), false, 'α well under α_box');
    step.forward.alpha.fill(0.4 * 0.9995);
    t.equal(asks(begin(), step), true, 'α within rounding of α_box');
    step.moving.fill(0);
    t.equal(asks(begin(), step), false, 'nothing moves');
    step.moving.fill(1);
    step.forward.alphaGuard.fill(1);
    step.forward.alpha.fill(1);
    t.equal(asks(begin(), step), false, 'arriving inside the box');
    step.forward.alphaGuard.fill(0);
    step.forward.alpha.fill(0);
    t.equal(asks(begin(), step), true, 'on the face of the box: no way on at all');
  },
);

t.test('one vertex that its box stops four steps in a row requests a search', async (t) => {
  const watch = begin();
  const step = makeStep();
  stopAtBox(step, 7, 8);
  t.strictSame(
    [1, 2, 3, 4].map(() => asks(watch, step)),
    [false, false, false, true],
  );
  t.strictSame(
    [1, 2, 3, 4].map(() => asks(watch, step)),
    [false, false, false, true],
    'counted anew after a search',
  );
  asks(watch, step);
  asks(watch, step);
  asks(watch, step);
  const free = makeStep();
  t.equal(asks(watch, free), false, 'free for a step');
  t.strictSame(
    [1, 2, 3].map(() => asks(watch, step)),
    [false, false, false],
    'so it is not four in a row',
  );
  watch.begin(new Float32Array(3 * COUNT), step.residual);
  t.strictSame(
    [1, 2, 3].map(() => asks(watch, step)),
    [false, false, false],
    'a new request counts from the start',
  );
});

t.test('a vertex that has arrived counts if it blocks an unfinished one and cannot yield', async (t) => {
  const watch = begin();
  const step = makeStep();
  step.residual.fill(0);
  step.residual[3] = 1;
  step.pairs.push(VV, 3, 8, -1, -1, 0, 0, 1);
  stopAtBox(step, 8, 9);
  t.equal(asks(watch, step), false, 'no pair bounds the unfinished one');
  step.forward.limiter[3] = 0;
  t.equal(asks(watch, step), true, 'the pair with the stopped vertex does: one of two concerned');
  step.residual[3] = 0;
  t.equal(asks(watch, step), false, 'nobody is unfinished');
});

t.test('moving vertices that are unfinished or at their box get new boxes', async (t) => {
  const watch = begin(5);
  const step = makeStep(5);
  step.residual.set([1, 0, 1, 0, 0]);
  step.moving.set([1, 1, 0, 1, 0]);
  stopAtBox(step, 3, 5);
  asks(watch, step);
  // Unfinished and moving; finished with room; unfinished but still; finished, moving, at its box; still at its box.
  t.strictSame([...watch.wanted], [1, 0, 0, 1, 0]);
});

t.test('a run stagnates after 32 steps without motion, a search, and 32 more', async (t) => {
  const watch = begin();
  const x = new Float32Array(3 * COUNT);
  const residual = new Float32Array(COUNT).fill(1);
  const verdicts = Array.from({ length: 64 }, () => watch.judge(x, residual));
  t.equal(verdicts.indexOf('search'), 31);
  t.equal(verdicts.lastIndexOf('search'), 31);
  t.equal(verdicts.indexOf('stalled'), 63);
  t.equal(verdicts.filter((verdict) => verdict === 'going').length, 62);
});

/** The verdict of a whole window in which nothing changes but what `change` does before its last step. */
function lastOf(watch: ProgressWatch, x: Float32Array, residual: Float32Array, change = (): void => undefined): string {
  for (let n = 0; n < 31; n++) watch.judge(x, residual);
  change();
  return watch.judge(x, residual);
}

t.test('an unfinished vertex that travels 8 δ in a window counts as progress, but creeping does not', async (t) => {
  for (const [travel, expected] of [
    [8.1 * settings.delta, 'going'],
    [7.9 * settings.delta, 'search'],
  ] as const) {
    const x = new Float32Array(3 * COUNT);
    const residual = new Float32Array(COUNT).fill(1);
    const change = (): void => {
      x[3 * 50 + 1] = travel;
    };
    t.equal(lastOf(begin(), x, residual, change), expected, `a travel of ${travel}`);
  }
});

t.test('if the sum of r falls by a hundredth it counts as progress, however few vertices are involved', async (t) => {
  for (const [fall, expected] of [
    [1.2, 'going'],
    [0.8, 'search'],
  ] as const) {
    const x = new Float32Array(3 * COUNT);
    const residual = new Float32Array(COUNT).fill(1);
    const spread = (): void => {
      for (let v = 0; v < 10; v++) residual[v] -= fall / 10;
    };
    t.equal(lastOf(begin(), x, residual, spread), expected, `less by ${fall} of ${COUNT}`);
  }
  const residual = new Float32Array(COUNT).fill(0.01);
  const watch = new ProgressWatch(COUNT, settings);
  const x = new Float32Array(3 * COUNT);
  watch.begin(x, residual);
  const arrive = (): void => {
    residual[7] = settings.epsilon / 2;
    residual[8] = settings.epsilon / 2;
  };
  t.equal(lastOf(watch, x, residual, arrive), 'going', 'or because some arrive');
  t.equal(lastOf(watch, x, residual), 'search', 'but not a second time');
});

t.test('motion of vertices that have arrived is not progress, nor is a way that leads back', async (t) => {
  const residual = new Float32Array(COUNT).fill(1);
  residual[50] = settings.epsilon / 2;
  const x = new Float32Array(3 * COUNT);
  const watch = new ProgressWatch(COUNT, settings);
  watch.begin(x, residual);
  for (let n = 0; n < 31; n++) {
    x[3 * 20] = 100 * (n % 2);
    x[3 * 50] = n;
    watch.judge(x, residual);
  }
  x[3 * 20] = 0;
  t.equal(watch.judge(x, residual), 'search');
});

t.test('progress after the forced search requires another forced search', async (t) => {
  const watch = begin();
  const residual = new Float32Array(COUNT).fill(1);
  const x = new Float32Array(3 * COUNT);
  t.equal(lastOf(watch, x, residual), 'search');
  x[0] = 100 * settings.delta;
  t.equal(lastOf(watch, x, residual), 'going');
  t.equal(lastOf(watch, x, residual), 'search');
  t.equal(lastOf(watch, x, residual), 'stalled');
  watch.begin(x, residual);
  t.equal(lastOf(watch, x, residual), 'search', 'and a new request starts afresh');
});
