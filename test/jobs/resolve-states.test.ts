import t from 'tap';
import type { PathPhase } from '../../src/contract/path.js';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { type Behaviour, fakeEngine, resolution, stepping } from '../support/fake-engine.js';
import { rods, runJob, spike } from '../support/job.js';

const mapZ = (positions: ArrayLike<number>, vertex: number) => positions[3 * vertex + 2]!;

t.test('reported states are the start, every step and the answer, in the target’s scalar', async (t) => {
  const seen: (Float32Array | Float64Array)[] = [];
  const request = { ...spike(1, 0.5), target: Float64Array.from(spike(1, 0.5).target) };
  const { answer } = await runJob(request, fakeEngine(stepping(4)), { onState: (state) => seen.push(state) });
  t.equal(seen.length, 5);
  t.ok(seen.every((state) => state instanceof Float64Array));
  t.same(seen[0], Float64Array.from(request.start));
  t.same(seen[4], answer.positions);
  t.same(
    seen.map((state) => mapZ(state, 3)),
    [1, 0.875, 0.75, 0.625, 0.5],
  );

  const wide = { ...spike(1, 0.5), start: Float64Array.from(spike(1, 0.5).start, (x) => x + 1e-12) };
  const narrowed: (Float32Array | Float64Array)[] = [];
  const { answer: single } = await runJob(wide, fakeEngine(stepping(2)), { onState: (state) => narrowed.push(state) });
  t.same(narrowed[0], wide.start, 'a start in doubles is not rounded to a float32 answer');
  t.same(narrowed.at(-1), single.positions);
  t.ok(single.positions instanceof Float32Array);

  const still: unknown[] = [];
  await runJob(spike(1, 0), fakeEngine(stepping(0)), { onState: (state) => still.push(state) });
  t.equal(still.length, 1, 'no step, one state');
});

t.test('rejected states are withdrawn: one state replaces them, and is the answer', async (t) => {
  const hear = async (request: ResolveRequest, steps: number) => {
    const path: (Float32Array | Float64Array)[] = [];
    const numbers: number[] = [];
    const { answer } = await runJob(request, fakeEngine(stepping(steps)), {
      onState: (state, at) => {
        numbers.push(at);
        path.splice(at, path.length, state);
      },
    });
    return { path, numbers, answer };
  };
  const fallen = await hear(spike(0.25, 0.4), 4);
  t.same(fallen.numbers, [0, 1, 2, 3, 4, 2], 'two steps intersect');
  t.same(fallen.path.at(-1), fallen.answer.positions);
  t.equal(fallen.path.length, 3);

  const through = await hear(spike(0.25, 0.4), 1);
  t.same(through.numbers, [0, 1, 0], 'as far back as the start');
  t.same(through.path, [through.answer.positions]);

  const wide = { ...spike(0.25, 0.4), start: Float64Array.from(spike(0.25, 0.4).start, (x) => x + 1e-12) };
  const narrowed = await hear(wide, 1);
  t.same(narrowed.numbers, [0, 1, 1], 'a start in doubles, rounded for the answer, is a state of its own');
  t.same(narrowed.path, [wide.start, narrowed.answer.positions]);
  t.ok(narrowed.answer.positions instanceof Float32Array);
});

/** Brings the state to these heights of vertex 3, one a step, as states of a phase, and ends in the last. */
const passing =
  (heights: readonly number[], phase: PathPhase): Behaviour =>
  (step) => {
    const x = step.x.slice();
    for (const [n, height] of heights.entries()) {
      x[11] = height;
      step.onState?.(x, { phase, step: n + 1 });
    }
    return resolution(step, x, 'STALLED', heights.length);
  };

t.test('a path of Algorithm 1 that returns ends where it first stood at the answer', async (t) => {
  const hear = async (heights: readonly number[], request = spike(1, 0.5), phase: PathPhase = 'FORWARD') => {
    const path: (Float32Array | Float64Array)[] = [];
    const { answer } = await runJob({ ...request, include: { path: true } }, fakeEngine(passing(heights, phase)), {
      onState: (state, at) => void path.splice(at, path.length, state),
    });
    t.same(path.at(-1), answer.positions, 'it ends at the answer');
    t.same(answer.path?.positions.length, path.length * request.start.length, 'the path of the answer is the same');
    return { steps: [...(answer.path?.steps ?? [])], heights: path.map((state) => mapZ(state, 3)), answer };
  };
  const { answer, ...toStart } = await hear([1.25, 1.125, 1]);
  t.same(toStart, { steps: [0], heights: [1] }, 'at the start');
  t.equal(answer.report.steps, 3, 'its steps are still counted');
  const later = await hear([0.875, 0.75, 1.25, 0.75]);
  t.same(
    [later.steps, later.heights],
    [
      [0, 1, 2],
      [1, 0.875, 0.75],
    ],
    'and later',
  );
  const other = await hear([0.875, 0.75, 0.875, 0.625]);
  t.same(other.steps, [0, 1, 2, 3, 4], 'a state that it only passes twice is no end');
  const pulled = await hear([0.875, 0.75, 1.25, 0.75], undefined, 'PULL_BACK');
  t.same(pulled.steps, [0, 1, 2, 3, 4], 'the pull-back reports nothing after its best state, so nothing is cut');

  const wide = { ...spike(1, 0.5), start: Float64Array.from(spike(1, 0.5).start, (x) => x + 1e-12) };
  const narrowed = await hear([0.875, 1.25, 0.875], wide);
  t.same(narrowed.steps, [0, 1], 'from a start in doubles, too');
});

t.test('a state that is only passed is none to fall back to', async (t) => {
  const [wanted, heard]: [boolean[], number[]] = [[], []];
  const isPassed = [false, true, true, false];
  const engine = fakeEngine((step, scene) => {
    wanted.push(step.omitsPassed !== true);
    let n = 0;
    return stepping(4)({ ...step, onState: (x, from) => step.onState?.(x, from, isPassed[n++]) }, scene);
  });
  const request = spike(0.25, 0.4);
  const { answer } = await runJob(request, engine, { onState: (_, at) => heard.push(at) });
  t.same(heard, [0, 1, 2, 3, 4, 1], 'the fourth state intersects; the two before it are passed');
  t.ok(answer.report.verification.fellBack);
  await runJob(request, engine);
  await runJob({ ...request, parameters: { verify: 'PATH' } }, engine);
  t.same(wanted, [true, false, true], 'they are wanted by a reader of the path, and to judge its pieces');
});

t.test('an engine with expensive states reports them only if something needs them', async (t) => {
  const asked = async (request: ResolveRequest, more: Parameters<typeof runJob>[2] = {}) => {
    let isAsked = false;
    const engine = fakeEngine(
      (step, scene) => {
        isAsked = step.onState !== undefined;
        return stepping(4)(step, scene);
      },
      { hasCheapStates: false },
    );
    await runJob(request, engine, more);
    return isAsked;
  };
  t.equal(await asked(spike(1, 0.5)), false);
  t.equal(await asked({ ...spike(1, 0.5), parameters: { verify: 'PATH' } }), true, 'pieces to judge');
  t.equal(await asked(rods(1, 0.5)), true, 'rods: pieces to judge at STATE');
  t.equal(await asked(spike(1, 0.5), { onState: () => {} }), true, 'a reader');
});

t.test('without reported states the answer falls back to the start', async (t) => {
  const request = spike(0.25, 0.4);
  const { answer, findings } = await runJob(request, fakeEngine(stepping(4), { hasCheapStates: false }));
  t.same(answer.positions, request.start);
  t.ok(answer.report.verification.fellBack);
  t.match(findings, [{ kind: 'STATE', statesAccepted: 1 }]);
});
