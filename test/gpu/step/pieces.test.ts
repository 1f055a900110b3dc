import t, { type Test } from 'tap';
import { PHASE, STATE } from '../../../gpu/kernels/constants.js';
import { CLOSED_CHEAPER, PULL_BACK_PIECES } from '../../../src/solver/constants.js';
import { Forward } from '../../../src/solver/cpu/forward.js';
import { markMoving } from '../../../src/solver/cpu/motion.js';
import { mostPiecesOf } from '../../../src/solver/cpu/poor-steps.js';
import { openTestDevice } from '../../support/gpu.js';
import { StageBench, type StageInput } from '../../support/gpu-step.js';
import { CLOCK, lone, PLAN, sheet, withPairs } from '../../support/pull-back-bench.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

/** Engine units. A vertex whose α differs because a pair has another normal differs by more. */
const SAME = 1e-3;

/**
 * Share of the vertices that may differ after a piece, for each piece so far: other closest points of parallel elements
 * give other normals (step.test.ts).
 */
const DIFFERING = 0.05;

if (!gpu) t.test('pieces of a forward step', options, async () => undefined);
else {
  t.test(
    'a forward step of the pull-back makes the pieces of the reference, and keeps the states between them',
    async (t) => {
      const random = seeded();
      t.comment(`seed ${random.seed}`);
      const settings = makeSettings({ delta: 0.2, sigma: 0, pullBack: PLAN });
      const input = withPairs(random, settings, 220);
      const bench = new StageBench(gpu.memory, gpu.kernels, { ...input, isAiming: true });
      bench.writePullBack(input, PHASE.PULL);
      bench.run((pass) => bench.pullBack.forward(pass, true));
      const control = await bench.control();
      const length = input.x.length;
      const between = await bench.floats('pieces');
      const states: Float32Array[] = Array.from({ length: control.furtherPieces }, (_, n) =>
        between.slice(n * length, (n + 1) * length),
      );
      states.push(await bench.floats('x'));
      bench.close();
      t.match(control, { state: STATE.RUNNING, clock: CLOCK + control.furtherPieces });
      const expected = piecesOf(input);
      t.equal(states.length, PULL_BACK_PIECES, 'pairs hold vertices to the last piece');
      t.equal(states.length, expected.length);
      for (const [n, x] of expected.entries()) compare(t, states[n]!, x, DIFFERING * (n + 1), `after piece ${n + 1}`);
      t.notOk(Buffer.from(states[0]!.buffer).equals(Buffer.from(states[3]!.buffer)), 'pieces after the first one move');
    },
  );

  t.test('no piece follows when every vertex has reached y', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const settings = makeSettings({ sigma: 0, pullBack: PLAN });
    const { mesh, rest, x } = sheet(random, 10, 0.1);
    const input = lone(mesh, settings, x, rest);
    const bench = new StageBench(gpu.memory, gpu.kernels, { ...input, isAiming: true });
    bench.writePullBack(input, PHASE.PULL);
    bench.run((pass) => bench.pullBack.forward(pass));
    const control = await bench.control();
    const moved = await bench.floats('x');
    bench.close();
    t.match(control, { state: STATE.RUNNING, clock: CLOCK, furtherPieces: 0 });
    t.ok(
      rest.every((number, k) => Object.is(moved[k], number)),
      'x is y, bit for bit',
    );
  });

  t.test(
    'a step has one piece if P has more than the comfortable number of pairs, or than a part of it after a closed one',
    async (t) => {
      const random = seeded();
      t.comment(`seed ${random.seed}`);
      const input = withPairs(random, makeSettings({ delta: 0.2, sigma: 0, pullBack: PLAN }), 220);
      const { count } = input.pairs;
      for (const { cheapPairs, isClosed, furtherPieces } of [
        { cheapPairs: 2 * count, isClosed: 0, furtherPieces: PULL_BACK_PIECES - 1 },
        { cheapPairs: 2 * count - 1, isClosed: 0, furtherPieces: 0 },
        { cheapPairs: 2 * CLOSED_CHEAPER * count, isClosed: 1, furtherPieces: PULL_BACK_PIECES - 1 },
        { cheapPairs: 2 * CLOSED_CHEAPER * count - 1, isClosed: 1, furtherPieces: 0 },
      ]) {
        t.equal(mostPiecesOf(count, { cheapPairs }, isClosed === 1) - 1, furtherPieces, 'by the reference');
        const bench = new StageBench(gpu.memory, gpu.kernels, { ...input, isAiming: true });
        bench.writePullBack(input, PHASE.PULL, { cheapPairs });
        await bench.writeControl({ isClosed });
        bench.run((pass) => bench.pullBack.forward(pass));
        t.match(await bench.control(), { state: STATE.RUNNING, furtherPieces });
        bench.close();
      }
    },
  );
}

/** The states after each piece of the reference. */
function piecesOf({ mesh, settings, pairs, box, x: start, y, clock }: StageInput): Float32Array[] {
  const forward = new Forward(mesh.vertexCount);
  const x = Float32Array.from(start);
  const moving = new Uint8Array(mesh.vertexCount);
  const { gamma, delta, floor, forward: rule } = settings;
  const states: Float32Array[] = [];
  while (states.length < PULL_BACK_PIECES && markMoving(x, y, moving) > 0) {
    const moves = (p: number) => pairs.vertex.subarray(4 * p, 4 * p + 4).some((v) => v >= 0 && moving[v] === 1);
    const active = Uint32Array.from(Array.from({ length: pairs.count }, (_, p) => p).filter(moves));
    const common = { pairs, active, activeCount: active.length, moving, rule, gamma, delta, floor };
    forward.advance({ ...common, x, y, box, radius: 0, step: clock + states.length });
    states.push(Float32Array.from(x));
  }
  return states;
}

function compare(t: Test, found: Float32Array, expected: Float32Array, most: number, what: string): void {
  let differing = 0;
  for (let k = 0; k < expected.length; k += 3) {
    const differs = [0, 1, 2].some((c) => !(Math.abs(found[k + c]! - expected[k + c]!) <= SAME));
    if (differs) differing++;
  }
  const vertices = expected.length / 3;
  t.ok(differing <= most * vertices, `${what}: ${differing} of ${vertices} vertices differ`);
}
