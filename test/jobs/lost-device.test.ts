import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import { type Behaviour, between, fakeEngine, resolution, stepping } from '../support/fake-engine.js';
import { refusalOf, rods, runJob, spike } from '../support/job.js';
import { DirectSession } from '../support/scenes.js';

/** The spike with its tip this high above the floor. */
const tipAt = (height: number) => spike(height, 0).start;

const LOSS = new IntersticeError('DEVICE_LOST', 'the device was lost');

/** Arrives in one step, whatever is in the way. */
const arriving: Behaviour = (step) => resolution(step, step.y.slice(), 'CONVERGED', 1);

/** Scenes on a device, which arrive unless it is lost. */
const losingEngine = (isLost: () => boolean) =>
  fakeEngine(
    (step, scene) => {
      if (isLost()) throw LOSS;
      return arriving(step, scene);
    },
    { isOnDevice: true },
  );

t.test('a lost device: the scene is opened again and the step repeated, once', async (t) => {
  let losses = 1;
  const engine = losingEngine(() => losses-- > 0);
  const session = new DirectSession(spike(1, 0), engine);
  await session.open();
  const first = await session.step(tipAt(0.9));
  t.same(first.positions, tipAt(0.9));
  t.notOk(first.report.sessionRebuilt, 'no earlier frame had pairs');
  t.equal(engine.opened.length, 2);
  t.ok(engine.opened[0]?.closed);
  losses = 1;
  t.ok((await session.step(tipAt(0.8))).report.sessionRebuilt);
  t.notOk((await session.step(tipAt(0.75))).report.sessionRebuilt);
  losses = 2;
  t.equal((await refusalOf(session.step(tipAt(0.7)))).code, 'DEVICE_LOST');
  const after = await session.step(tipAt(0.6));
  t.ok(after.report.sessionRebuilt);
  t.same(after.positions, tipAt(0.6));
});

t.test('a device that is lost under a parked session takes no pairs with it', async (t) => {
  let losses = 0;
  const engine = losingEngine(() => losses-- > 0);
  const given: boolean[] = [];
  let isLostInOpening = false;
  const open: typeof engine.open = async (...request) => {
    given.push(request[3] !== undefined);
    if (isLostInOpening && losses-- > 0) throw LOSS;
    return engine.open(...request);
  };
  const session = new DirectSession(spike(1, 0), { ...engine, open });
  await session.open();
  await session.step(tipAt(0.9));
  for (isLostInOpening of [false, true]) {
    await session.park();
    given.length = 0;
    losses = 1;
    t.notOk((await session.step(tipAt(0.8))).report.sessionRebuilt, 'the step is repeated');
    await session.park();
    losses = 2;
    t.equal((await refusalOf(session.step(tipAt(0.7)))).code, 'DEVICE_LOST');
    t.notOk((await session.step(tipAt(0.6))).report.sessionRebuilt, 'the step is refused');
    t.strictSame(given, [true, true, true, true, true], 'every scene was opened with what was saved');
    losses = 1;
    if (!isLostInOpening) t.ok((await session.step(tipAt(0.5))).report.sessionRebuilt, 'and later it does');
  }
});

t.test('a device that fails between two steps: the next step opens another scene and is not refused', async (t) => {
  const engine = fakeEngine(arriving, { isOnDevice: true });
  let failed = 0;
  const open: typeof engine.open = async (...request) => {
    const scene = await engine.open(...request);
    const number = engine.opened.length;
    return Object.defineProperty(scene, 'isUsable', { get: () => number > failed });
  };
  const session = new DirectSession(spike(1, 0), { ...engine, open });
  await session.open();
  t.notOk((await session.step(tipAt(0.9))).report.sessionRebuilt);
  failed = 1;
  const next = await session.step(tipAt(0.8));
  t.same(next.positions, tipAt(0.8));
  t.ok(next.report.sessionRebuilt);
  t.equal(engine.opened.length, 2);
  t.ok(engine.opened[0]?.closed);
  t.notOk((await session.step(tipAt(0.7))).report.sessionRebuilt);
});

t.test('a step for which shared buffers have no memory is repeated with buffers of its own', async (t) => {
  const asked: boolean[] = [];
  const code = 'OUT_OF_DEVICE_MEMORY';
  for (const [isShared, needsMore] of [
    [true, false],
    [true, true],
    [false, true],
  ] as const) {
    asked.length = 0;
    const engine = fakeEngine(arriving, { isOnDevice: true });
    const open: typeof engine.open = async (mesh, parameters, units, saved, alone = false) => {
      asked.push(alone);
      const scene = await engine.open(mesh, parameters, units, saved);
      const resolve: typeof scene.resolve = async (step) => {
        if (!alone || needsMore) throw new IntersticeError(code, 'There is no memory.');
        return scene.resolve(step);
      };
      return { ...scene, close: () => scene.close(), isShared: isShared && !alone, resolve };
    };
    const session = new DirectSession(spike(1, 0), { ...engine, open });
    await session.open();
    if (needsMore) {
      t.equal((await refusalOf(session.step(tipAt(0.9)))).code, code, 'one that has none alone either is refused');
      t.same(asked, isShared ? [false, true] : [false]);
    } else {
      const { positions, report } = await session.step(tipAt(0.9));
      t.same(positions, tipAt(0.9));
      t.notOk(report.sessionRebuilt, 'no pairs were lost');
      await session.step(tipAt(0.8));
      t.same(asked, [false, true], 'the scene stays alone');
    }
    t.ok(engine.opened.slice(0, -1).every(({ closed }) => closed));
  }
});

t.test('a refused step under another coordinate frame has lost the pairs of the last one, and says so', async (t) => {
  let isRefused = false;
  const engine = fakeEngine(
    (step, scene) => {
      if (isRefused) throw new IntersticeError('TOO_LARGE', 'too many pairs');
      return arriving(step, scene);
    },
    { isOnDevice: true },
  );
  const session = new DirectSession(spike(1, 0), engine);
  await session.open();
  await session.step(tipAt(0.9));
  isRefused = true;
  // A start in another scalar has a frame of its own.
  const start = Float64Array.from(tipAt(0.9));
  t.equal((await refusalOf(session.step(Float64Array.from(tipAt(0.8)), { start }))).code, 'TOO_LARGE');
  isRefused = false;
  t.ok((await session.step(tipAt(0.8))).report.sessionRebuilt);
  t.notOk((await session.step(tipAt(0.7))).report.sessionRebuilt, 'once');
  t.notOk(
    (await session.step(Float64Array.from(tipAt(0.6)), { start })).report.sessionRebuilt,
    'an accepted one uses none',
  );
});

/** Rods of which the upper one is this high above the lower one. */
const rodsAt = (height: number) => rods(height, 0).start;

/** Reports this share of the motion as a state, and then loses its device, as long as there are shares; then moves in four steps. */
const losingAt = (shares: number[]) =>
  fakeEngine((step, scene) => {
    const share = shares.shift();
    if (share === undefined) return stepping(4)(step, scene);
    step.onState?.(between(step.x, step.y, share));
    throw LOSS;
  });

t.test(
  'a step whose states were observed is repeated on a lost device, and no observer keeps a state of the lost run',
  async (t) => {
    const runWith = async (shares: number[]) => {
      const listed: Float32Array[] = [];
      let taken = 0;
      let most = 0;
      const take = (bytes: number) => {
        taken += bytes;
        most = Math.max(most, taken);
      };
      const session = new DirectSession(rods(1, 0), losingAt(shares), {
        memory: { take, give: (bytes) => take(-bytes) },
        onState: (positions, at) => {
          t.ok(at <= listed.length, 'a state replaces a known one, or follows the last');
          listed.splice(at, Number.POSITIVE_INFINITY, positions.slice() as Float32Array);
        },
      });
      await session.open();
      const answer = await session.step(rodsAt(0.5), { include: { path: true } });
      t.equal(taken, 0);
      t.strictSame(session.findings, []);
      const { positions, path, report } = answer;
      return { positions, path, listed, most, steps: report.steps, isRebuilt: report.sessionRebuilt };
    };
    const undisturbed = await runWith([]);
    // The lost run may have come nearer to the target than the first step of the other.
    t.strictSame(await runWith([0.9]), undisturbed);
    t.equal(undisturbed.listed.length, 5);
    t.same(undisturbed.listed.at(-1), rodsAt(0.5));
  },
);

t.test(
  'a device that is lost twice in an observed step: the step is refused, and the session is as it was',
  async (t) => {
    const engine = losingAt([0.5, 0.5]);
    const session = new DirectSession(rods(1, 0), engine);
    await session.open();
    t.equal((await refusalOf(session.step(rodsAt(0.5)))).code, 'DEVICE_LOST');
    t.ok(engine.opened.every(({ closed }) => closed));
    t.equal(session.state.stateVersion, 0);
    t.same((await session.step(rodsAt(0.5))).positions, rodsAt(0.5));
  },
);

t.test(
  'a fault that was found before the device was lost is reported, and the repeated run is judged anew',
  async (t) => {
    // The upper rod passes through the lower one on the first piece of the lost runs.
    for (const [shares, findings] of [
      [[1.5], 1],
      [[1.5, 1.5], 2],
    ] as const) {
      const session = new DirectSession(rods(1, 0), losingAt([...shares]));
      await session.open();
      const step = session.step(rodsAt(0.1));
      if (findings === 2) t.equal((await refusalOf(step)).code, 'DEVICE_LOST');
      else t.match((await step).report, { status: 'CONVERGED', verification: { fellBack: false, intersections: 0 } });
      t.strictSame(
        session.findings.map(({ kind, statesAccepted }) => [kind, statesAccepted]),
        Array(findings).fill(['PATH', 0]),
      );
    }
  },
);

t.test('a resolve whose device is lost is repeated once, from the start, and leaves no scene open', async (t) => {
  const request = { ...rods(1, 0.5), include: { path: true } };
  const { answer: undisturbed } = await runJob(request, losingAt([]));
  const once = losingAt([0.9]);
  const { answer, findings } = await runJob(request, once);
  t.same([answer.positions, answer.path], [undisturbed.positions, undisturbed.path]);
  t.match(answer.report, { status: 'CONVERGED', steps: 4, sessionRebuilt: false });
  t.same(findings, []);
  const twice = losingAt([0.9, 0.9]);
  t.equal((await refusalOf(runJob(request, twice))).code, 'DEVICE_LOST');
  for (const { opened } of [once, twice])
    t.same(
      opened.map(({ closed }) => closed),
      [true, true],
    );
});
