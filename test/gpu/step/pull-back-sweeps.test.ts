import t from 'tap';
import { KernelSet, serialThreads } from '../../../gpu/device/kernel.js';
import { PHASE, STATE, UNLIMITED } from '../../../gpu/kernels/constants.js';
import { STEP_STAGES } from '../../../gpu/kernels/table.js';
import { EXCESS_WEIGHT, SWEPT_EXCESS, WARM_CONTACTS, WARM_EDGES } from '../../../src/solver/constants.js';
import { AcceleratedSweeps } from '../../../src/solver/cpu/accelerated-sweeps.js';
import { measurePair } from '../../../src/solver/cpu/certificate.js';
import { aimOf } from '../../../src/solver/cpu/contact-aims.js';
import { Contacts } from '../../../src/solver/cpu/contacts.js';
import { EdgeLimits } from '../../../src/solver/cpu/edge-limits.js';
import { Shortfalls } from '../../../src/solver/cpu/shortfalls.js';
import { WarmContacts } from '../../../src/solver/cpu/warm-contacts.js';
import { Scratch } from '../../../src/solver/cpu/workspace.js';
import { openTestDevice } from '../../support/gpu.js';
import { NO_ROUNDS, StageBench } from '../../support/gpu-step.js';
import { CLOCK, colouredEdges, lone, PLAN, sheet, unitOf, withPairs, worstOf } from '../../support/pull-back-bench.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';
import { colourByPlaces, placeOf } from '../../support/sweep-order.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

if (!gpu) t.test('sweeps of the pull-back', options, async () => undefined);
else {
  // The last colours of the small sheet are swept by one workgroup, all of the large one by whole dispatches.
  for (const n of [20, 110]) {
    t.test(`edge limits and their extrapolation match the reference, ${n} × ${n}`, async (t) => {
      const random = seeded();
      t.comment(`seed ${random.seed}`);
      const settings = makeSettings({ sigma: 1.1, pullBack: PLAN });
      const { mesh, rest, x } = sheet(random, n, 0.4);
      // On its target the pull-back would end before it begins.
      const state = rest.map((value) => value + 0.01);
      const input = lone(mesh, settings, state, x);
      const bench = new StageBench(gpu.memory, gpu.kernels, input);
      if (n > 100) t.ok(bench.edges.wideColours > 0, 'there are wide colours');
      bench.write('target', rest);
      bench.run((pass) => bench.recorder.linearise(pass));
      bench.beginPullBack(input, PHASE.PULL);

      const scratch = new Scratch();
      const reference = new EdgeLimits(colouredEdges(bench.edges), mesh.inverseMasses, rest, settings.sigma, scratch);
      const sweeps = new AcceleratedSweeps(mesh.inverseMasses, scratch);
      // The second step begins with what the first one has kept, and goes past the second sweep over all edges.
      for (const [step, count] of [1, 10].entries()) {
        const expected = Float32Array.from(x);
        reference.begin(expected, WARM_EDGES);
        sweeps.run(state, expected, { edges: reference }, undefined, {
          sweeps: count,
          delta: settings.delta,
          slack: 0,
        });
        bench.writeY(x);
        await bench.writeControl({ sweepsDone: 0, momentumSteps: 0 });
        bench.run((pass) =>
          bench.pullBack.sweeps(pass, { sweeps: count, wide: NO_ROUNDS, hasDenseEdges: true, isSmall: false }),
        );
        const y = await bench.floats('y');
        const pushed = expected.filter((value, k) => Math.abs(value - x[k]) > 1e-3).length;
        t.ok(pushed > n, `step ${step}: ${pushed} coordinates were pushed`);
        const worst = worstOf(y, expected);
        // Coordinates up to 110 are rounded by 7e-6 in each of the dozen projections of a sweep, which the momentum amplifies.
        t.ok(worst < (count === 1 ? 2e-4 : 2e-2), `step ${step}: worst difference ${worst}`);
        const left = new EdgeLimits(
          colouredEdges(bench.edges),
          mesh.inverseMasses,
          rest,
          settings.sigma,
          new Scratch(),
        );
        t.ok(left.excess(y) < (count === 1 ? 0.5 : 0.1) * left.excess(x), 'edges above their limits were shortened');
      }
      bench.close();
    });
  }

  t.test('large colours of edges give the same bytes in whole dispatches and in one workgroup', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const settings = makeSettings({ sigma: 1.1, pullBack: PLAN });
    const { mesh, rest, x } = sheet(random, 90, 0.4);
    const input = lone(
      mesh,
      settings,
      rest.map((value) => value + 0.01),
      x,
    );
    const made: Buffer[][] = [];
    for (const hasDenseEdges of [true, false]) {
      const bench = new StageBench(gpu.memory, gpu.kernels, input);
      t.ok(bench.edges.wideColours > 0, 'there are wide colours');
      bench.write('target', rest);
      bench.run((pass) => bench.recorder.linearise(pass));
      bench.beginPullBack(input, PHASE.PULL);
      const bytes: Buffer[] = [];
      for (const _ of [0, 1]) {
        bench.writeY(x);
        await bench.writeControl({ sweepsDone: 0, momentumSteps: 0 });
        bench.run((pass) =>
          bench.pullBack.sweeps(pass, { sweeps: 10, wide: NO_ROUNDS, hasDenseEdges, isSmall: false }),
        );
        for (const name of ['y', 'edgeRow', 'edgePush'] as const) bytes.push(Buffer.from(await bench.read(name)));
      }
      made.push(bytes);
      bench.close();
    }
    t.notOk(made[0][0].equals(made[0][3]), 'the second step ends in another state');
    for (const [n, bytes] of made[0].entries())
      t.ok(bytes.equals(made[1][n]), `${['y', 'edges', 'edges before'][n % 3]}, step ${Math.floor(n / 3)}`);
  });

  t.test('sweeps continue in rounds while edges exceed their limits, like those of the reference', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const sweeps = 4;
    const settings = makeSettings({ sigma: 1.1, pullBack: { ...PLAN, sweeps } });
    const { mesh, rest, x } = sheet(random, 30, 0.4);
    const state = rest.map((value) => value + 0.01);
    const input = lone(mesh, settings, state, x);
    const bench = new StageBench(gpu.memory, gpu.kernels, input);
    bench.write('target', rest);
    bench.run((pass) => bench.recorder.linearise(pass));
    bench.beginPullBack(input, PHASE.PULL);
    const limits = new EdgeLimits(colouredEdges(bench.edges), mesh.inverseMasses, rest, settings.sigma, new Scratch());
    const mostExcess = 1e-4 * limits.excess(x);
    const unit = 2 ** Math.floor(Math.log2(unitOf(mesh, state, rest)));
    const bestMerit = (mostExcess * EXCESS_WEIGHT) / SWEPT_EXCESS / unit ** 2;
    const shape = { sweeps, wide: NO_ROUNDS, hasDenseEdges: true, isSmall: false };
    for (const isThorough of [0, 1]) {
      bench.writeY(x);
      await bench.writeControl({ sweepsDone: 0, momentumSteps: 0, isThorough, bestMerit, leastExcess: UNLIMITED });
      bench.run((pass) => bench.pullBack.sweeps(pass, shape));
      let rounds = 1;
      for (; (await bench.control()).state === STATE.WANTS_SWEEPS; rounds++) {
        bench.run((pass) => bench.pullBack.sweeps(pass, shape, rounds));
      }
      const y = await bench.floats('y');
      if (isThorough === 0) {
        t.equal(rounds, 1, 'no step has been poor because of edges yet');
        t.ok(limits.excess(y) > mostExcess);
        bench.beginPullBack(input, PHASE.PULL);
        continue;
      }
      const expected = Float32Array.from(x);
      let asked = 0;
      limits.begin(expected, 0);
      new AcceleratedSweeps(mesh.inverseMasses, new Scratch()).run(
        state,
        expected,
        {
          edges: limits,
          wantsMoreSweeps: (_, at, round, most) => {
            asked = round;
            return limits.wantsMore(at, round, most);
          },
        },
        undefined,
        { sweeps, delta: settings.delta, slack: 0, mostExcess },
      );
      t.ok(asked > 2, `${asked} rounds`);
      // A rounding may decide about the last one.
      t.ok(Math.abs(rounds - asked) <= 1, `${rounds} rounds, the reference ${asked}`);
      const [left, least] = [limits.excess(y), limits.excess(expected)];
      t.ok(left < 1.1 * least + mostExcess, `excess ${left}, the reference ${least}`);

      // Recorded ahead, in two submissions: the device skips the rounds that nothing requires.
      bench.beginPullBack(input, PHASE.PULL);
      bench.writeY(x);
      await bench.writeControl({ sweepsDone: 0, momentumSteps: 0, isThorough, bestMerit, leastExcess: UNLIMITED });
      bench.run((pass) => bench.pullBack.sweepRounds(pass, shape, { roundsDone: 0, rounds: 2 }));
      t.equal((await bench.control()).state, STATE.WANTS_SWEEPS, 'two rounds are not enough');
      bench.run((pass) => bench.pullBack.sweepRounds(pass, shape, { roundsDone: 2, rounds: rounds + 3 }));
      const { state: after, sweepsDone } = await bench.control();
      t.equal(after, STATE.RUNNING);
      t.equal(sweepsDone, 1 + rounds * sweeps, 'as many rounds');
      t.strictSame(await bench.floats('y'), y, 'the same bytes');
    }
    bench.close();
  });

  for (const hasOffsets of [false, true]) {
    t.test(
      `contact rows begin with the multipliers of the previous step and aim at ${hasOffsets ? 'offsets of parts' : 'their offset'}`,
      async (t) => {
        const random = seeded();
        t.comment(`seed ${random.seed}`);
        const settings = makeSettings({ delta: 0.2, sigma: 0, pullBack: PLAN });
        // So many that rows share vertices, whatever the seed: a row by itself is solved in one sweep, wherever it begins.
        const input = withPairs(random, settings, 560);
        const { mesh, x, y, pairs } = input;
        const bench = new StageBench(gpu.memory, gpu.kernels, input);
        const offsets = Float32Array.from({ length: mesh.vertexCount }, () => settings.delta * random());
        bench.beginPullBack(input, PHASE.PULL, hasOffsets ? offsets : undefined);
        // The state is the start: what begins nearer than its offset aims a little farther than it is.
        bench.run((pass) => bench.pullBack.rate(pass, PHASE.PULL));
        const short = await bench.floats('shortfalls');
        const runs: Float32Array[] = [];
        let rows: number[] = [];
        for (const step of [0, 1]) {
          bench.writeY(y);
          await bench.writeControl({ ...NO_LISTS, keptAt: step === 0 ? 0 : CLOCK });
          bench.run((pass) => {
            bench.recorder.findContacts(pass);
            bench.recorder.selectContacts(pass);
            bench.pullBack.sweeps(pass, {
              sweeps: 1,
              wide: { rounds: 12 * step, ordering: 24 * step, threads: 64 },
              hasDenseEdges: true,
              isSmall: false,
            });
          });
          runs.push(await bench.floats('y'));
          rows = await bench.pairsIn('row', (await bench.control()).rowCount);
        }
        const normal = await bench.floats('pairNormal');
        bench.close();

        const aims = { offsets: hasOffsets ? offsets : new Float32Array(0), offsetShare: PLAN.offset };
        const deltas = { delta: settings.delta, distances: undefined };
        const shortfalls = new Shortfalls(mesh.vertexCount, deltas, aims, x, new Scratch());
        shortfalls.measure(pairs, x);
        t.ok(
          shortfalls.of.some((by) => by > 0.04 * settings.delta),
          'some contacts are nearer than their aims',
        );
        const movable = shortfalls.of.map((by, i) => (mesh.inverseMasses[i] > 0 ? by : 0));
        // Distances of points that are up to 6 away from the origin.
        t.ok(worstOf(short.subarray(0, movable.length), movable) < 1e-5, 'shortfalls match the reference');
        for (const p of rows) {
          measurePair(pairs, p, x, 1);
          const aim = aimOf(pairs, p, settings.delta, x, aims);
          t.ok(Math.abs(normal[4 * p + 3] - aim) < 1e-5, `aim ${normal[4 * p + 3]} of pair ${p}, the reference ${aim}`);
        }
        const contacts = new Contacts(mesh.inverseMasses, 'GAP');
        contacts.assemble(pairs, Uint32Array.from(rows).sort(), rows.length, x, CLOCK);
        t.ok(contacts.count > 60, `${contacts.count} contacts`);
        // In the order of the device.
        contacts.colouring = colourByPlaces(contacts, (r) => placeOf(contacts.pairOf[r], pairs.count, CLOCK));
        const scratch = new Scratch();
        const warm = new WarmContacts(contacts, scratch);
        const sweeps = new AcceleratedSweeps(mesh.inverseMasses, scratch);
        for (const run of runs) {
          const expected = Float32Array.from(y);
          warm.begin(pairs, expected, WARM_CONTACTS);
          sweeps.run(x, expected, undefined, warm, { sweeps: 1, delta: settings.delta, slack: 0 });
          warm.end(pairs);
          const worst = worstOf(run, expected);
          t.ok(worst < 5e-3, `worst difference ${worst}`);
        }
        t.ok(worstOf(runs[0], runs[1]) > 1e-2, 'the second step began with other multipliers');
      },
    );
  }

  t.test('contacts get the colours of the reference, in whole dispatches and in one workgroup', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const settings = makeSettings({ delta: 0.3, sigma: 0, pullBack: PLAN });
    const input = withPairs(random, settings, 400);
    const { mesh, pairs } = input;
    const turns: number[] = [];
    const narrow = await KernelSet.compile(gpu.memory.device, STEP_STAGES, { constants: serialThreads(32) });
    for (const [ordering, kernels] of [
      [0, gpu.kernels],
      [3, gpu.kernels],
      [40, gpu.kernels],
      [0, narrow],
    ] as const) {
      const bench = new StageBench(gpu.memory, kernels, input);
      bench.beginPullBack(input, PHASE.PULL);
      await bench.writeControl(NO_LISTS);
      bench.run((pass) => {
        bench.recorder.findContacts(pass);
        bench.recorder.selectContacts(pass);
        bench.recorder.colourContacts(pass, { ...NO_ROUNDS, ordering, threads: 64 });
      });
      const { rowCount, readyCount, evenBegin, wideOrdering, mostOrderingTurns } = await bench.control();
      const rows = await bench.pairsIn('row', rowCount);
      const queue = await bench.pairsIn('queue', rowCount);
      const sizes = [readyCount, ...(await bench.sizesOfRounds(rowCount))];
      const weights = new Map((await bench.candidates()).map(({ pair, weight }) => [pair, weight]));
      bench.close();

      t.ok(rowCount > 200, `${rowCount} contacts`);
      const corner = Int32Array.from(
        rows.flatMap((p) => [0, 1, 2, 3].map((s) => (weights.get(p)![s] > 0 ? pairs.vertex[4 * p + s] : -1))),
      );
      const contacts = { count: rowCount, corner, inverseMass: mesh.inverseMasses };
      const { order, offsets, colours } = colourByPlaces(contacts, (r) => placeOf(rows[r], pairs.count, CLOCK));
      t.ok(colours > 4, `${colours} colours`);
      t.strictSame(
        sizes.slice(0, sizes.indexOf(0)),
        Array.from({ length: colours }, (_, c) => offsets[c + 1] - offsets[c]),
        'as many contacts of each colour',
      );
      t.ok(
        sizes.slice(colours).every((size) => size === 0),
        'and no round after them',
      );
      const setsOf = (all: readonly number[]) =>
        Array.from({ length: colours }, (_, c) => all.slice(offsets[c], offsets[c + 1]).sort((a, b) => a - b));
      t.strictSame(setsOf(queue), setsOf([...order].map((r) => rows[r])), 'the same contacts');
      t.equal(evenBegin, 0, 'a sweep begins at the first place');
      // A bench lets whole dispatches take every round (tailRows = roundRows = 0).
      t.ok(wideOrdering >= colours, `found in ${wideOrdering} rounds`);
      turns.push(mostOrderingTurns);
    }
    t.ok(turns[1] < turns[0] && turns[2] < turns[1] && turns[3] > turns[0], `turns ${turns.join()}`);
  });

  t.test(
    'one workgroup sweeps small meshes and few acting edges to the same bytes, in further rounds too',
    async (t) => {
      if (!gpu.kernels.has('sweepSmall') || !gpu.kernels.has('sweepFew'))
        return t.comment('this adapter allows too few storage buffers');
      const random = seeded();
      t.comment(`seed ${random.seed}`);
      const settings = makeSettings({ delta: 0.2, sigma: 1.1, pullBack: PLAN });
      const input = withPairs(random, settings, 400);
      const { y } = input;
      const made: Buffer[][] = [];
      const ways = [
        { hasDenseEdges: true, isSmall: false, isFew: false },
        { hasDenseEdges: true, isSmall: true, isFew: false },
        { hasDenseEdges: false, isSmall: false, isFew: true },
      ];
      for (const way of ways) {
        const bench = new StageBench(gpu.memory, gpu.kernels, input);
        bench.beginPullBack(input, PHASE.PULL);
        // As if every pair had been a row of the step before: what is no row of the next one keeps nothing.
        bench.write('kept', new Float32Array(input.pairs.count).fill(0.01));
        const bytes: Buffer[] = [];
        // The second step begins with multipliers, and with lists of the edges that act.
        for (const step of [0, 1]) {
          bench.writeY(y);
          await bench.writeControl({ ...NO_LISTS, keptAt: step === 0 ? 0 : CLOCK });
          bench.run((pass) => {
            bench.recorder.findContacts(pass);
            bench.recorder.selectContacts(pass);
            bench.pullBack.sweeps(pass, { sweeps: PLAN.sweeps, wide: NO_ROUNDS, ...way });
          });
          for (const round of [1, 2]) {
            await bench.writeControl({ state: STATE.WANTS_SWEEPS });
            bench.run((pass) => bench.pullBack.sweeps(pass, { sweeps: PLAN.sweeps, wide: NO_ROUNDS, ...way }, round));
          }
          const rows = new Set(await bench.pairsIn('row', (await bench.control()).rowCount));
          t.ok(
            rows.size > 60 && rows.size < input.pairs.count,
            `${rows.size} of ${input.pairs.count} pairs are contacts`,
          );
          const kept = await bench.floats('kept');
          const others = [...kept.subarray(0, input.pairs.count).keys()].filter((p) => !rows.has(p));
          t.ok(
            others.every((p) => kept[p] === 0) && kept.some((lambda) => lambda > 0),
            'only contacts keep multipliers',
          );
          for (const name of ['y', 'edgeRow', 'edgePush', 'kept'] as const)
            bytes.push(Buffer.from(await bench.read(name)));
          const { momentum, momentumSteps, sweepsDone } = await bench.control();
          bytes.push(Buffer.from(Float64Array.of(momentum, momentumSteps, sweepsDone).buffer));
        }
        made.push(bytes);
        bench.close();
      }
      t.notOk(made[0][0].equals(made[0][5]), 'the second step ends in another state');
      for (const [n, bytes] of made[0].entries()) {
        const what = `${['y', 'edges', 'edges before', 'contacts', 'momentum'][n % 5]}, step ${Math.floor(n / 5)}`;
        t.ok(bytes.equals(made[1][n]), `${what}, a small mesh`);
        t.ok(bytes.equals(made[2][n]), `${what}, few edges`);
      }
    },
  );
}

/** Counters with which a step begins. */
const NO_LISTS = {
  ...{ sweepsDone: 0, momentumSteps: 0, listedCount: 0, candidateCount: 0, listTop: 0, keptCount: 0, rowCount: 0 },
  ...{ readyCount: 0, activeCount: 0, evenBegin: 0, clock: CLOCK },
};
