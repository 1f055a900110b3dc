import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import { exactVerifier, type Verifier } from '../../src/jobs/verifier.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { type Behaviour, between, fakeEngine, resolution, stepping } from '../support/fake-engine.js';
import { refusalOf, rods, spike } from '../support/job.js';
import { DirectSession } from '../support/scenes.js';

/** The spike with its tip this high above the floor. */
const tipAt = (height: number) => spike(height, 0).start;
const tipOf = (positions: Float32Array | Float64Array) => positions[11]!;

/** Arrives in one step, whatever is in the way. */
const arriving: Behaviour = (step) => resolution(step, step.y.slice(), 'CONVERGED', 1);

/** Counts the tests of the verifier. */
function countingVerifier() {
  const count = { states: 0, paths: 0 };
  const verifier: Verifier = {
    ...exactVerifier,
    findIntersections: (...args) => {
      count.states++;
      return exactVerifier.findIntersections(...args);
    },
    testPath: (...args) => {
      count.paths++;
      return exactVerifier.testPath(...args);
    },
  };
  return { count, verifier };
}

t.test('the real engine: a session that hardly moves is searched once', async (t) => {
  const session = new DirectSession(spike(0.25, 0), createCpuEngine());
  const opened = await session.open();
  t.ok(opened.residentBytes > 0);
  const first = await session.step(tipAt(0.24));
  t.equal(first.report.searches, 1);
  t.notOk(first.report.proximitySetReused);
  for (const height of [0.235, 0.23]) {
    const { report, positions } = await session.step(tipAt(height));
    t.match(report, { status: 'CONVERGED', searches: 0, proximitySetReused: true, sessionRebuilt: false });
    t.same(positions, tipAt(height));
  }
});

t.test('elements at rest are not tested again, whatever happened to the steps between', async (t) => {
  // The vertices of the floor rest; the tip of the spike moves.
  const session = new DirectSession(spike(0.25, 0), fakeEngine(arriving));
  await session.open();
  await session.step(tipAt(0.24));
  // An answer that is not committed is remembered as a state, and no state is taken for it.
  await session.step(tipAt(0.1), {}, { isCommitted: false });
  const pierced = await session.step(tipAt(-0.1));
  t.ok(pierced.report.verification.fellBack, 'the faulty engine is caught');
  t.same(pierced.positions, tipAt(0.24));
  const back = await session.step(tipAt(0.1));
  t.notOk(back.report.verification.fellBack);
  t.equal(session.findings.length, 1);
});

t.test('the real engine: a start outside the boxes costs a search, but one inside does not', async (t) => {
  const session = new DirectSession(spike(0.25, 0), createCpuEngine());
  await session.open();
  await session.step(tipAt(0.24));
  const near = await session.step(tipAt(0.23), { start: tipAt(0.245) });
  t.ok(near.report.proximitySetReused);
  const far = await session.step(tipAt(3.1), { start: tipAt(3) });
  t.notOk(far.report.proximitySetReused);
  t.same(far.positions, tipAt(3.1));
  const blocked = await session.step(tipAt(-0.5), { start: tipAt(0.1) });
  t.ok(
    tipOf(blocked.positions) > Math.min(...[2, 5, 8].map((k) => blocked.positions[k]!)),
    'and still nothing crosses',
  );
});

t.test('the real engine: the same scene gets other parameters, and only some of them cost a search', async (t) => {
  const session = new DirectSession(spike(0.25, 0), createCpuEngine());
  await session.open();
  await session.step(tipAt(0.24));
  t.ok((await session.step(tipAt(0.238), { parameters: { damping: 0.5 } })).report.proximitySetReused);
  t.notOk((await session.step(tipAt(0.236), { parameters: { reach: 0.05 } })).report.proximitySetReused);
  t.notOk((await session.step(tipAt(0.234))).report.proximitySetReused, 'and back');
  t.ok((await session.step(tipAt(0.232))).report.proximitySetReused);
});

t.test('the real engine: after a cancelled step the answer is as without it, and costs no search', async (t) => {
  let isCancelling = false;
  const session: DirectSession = new DirectSession(spike(0.25, 0), createCpuEngine(), {
    onProgress: () => {
      session.isCancelled = isCancelling;
    },
  });
  const calm = new DirectSession(spike(0.25, 0), createCpuEngine());
  for (const one of [session, calm]) {
    await one.open();
    await one.step(tipAt(0.24));
  }
  isCancelling = true;
  t.equal((await refusalOf(session.step(tipAt(-0.5)))).code, 'CANCELLED');
  isCancelling = session.isCancelled = false;
  const [after, without] = [await session.step(tipAt(0.235)), await calm.step(tipAt(0.235))];
  t.same(after.positions, without.positions);
  t.same([after.report.searches, without.report.searches], [0, 0]);
  const pressed = await session.step(tipAt(-0.5));
  t.notOk(pressed.report.verification.fellBack);
  t.ok(tipOf(pressed.positions) > Math.min(...[2, 5, 8].map((k) => pressed.positions[k]!)), 'and nothing crosses');
});

t.test(
  'a step that was cancelled in the engine closes its scene; the next one starts from the committed state',
  async (t) => {
    let isCancelling = false;
    const starts: Float32Array[] = [];
    const engine = fakeEngine((step) => {
      starts.push(step.x.slice());
      session.isCancelled = isCancelling;
      return arriving(step, undefined as never);
    });
    const session: DirectSession = new DirectSession(spike(1, 0), engine);
    await session.open();
    await session.step(tipAt(0.9));
    isCancelling = true;
    t.equal((await refusalOf(session.step(tipAt(0.5)))).code, 'CANCELLED');
    t.ok(engine.opened[0]?.closed);
    isCancelling = session.isCancelled = false;
    const { report, positions } = await session.step(tipAt(0.8));
    t.same(positions, tipAt(0.8));
    t.notOk(report.sessionRebuilt);
    t.same(starts[2], starts[1], 'from where the cancelled one started');
    t.equal(engine.opened.length, 2);
  },
);

t.test('an answer that the session did not commit has no effect', async (t) => {
  const engine = fakeEngine(arriving);
  const session = new DirectSession(spike(1, 0), engine);
  await session.open();
  await session.step(tipAt(0.5), {}, { isCommitted: false });
  const { positions } = await session.step(tipAt(0.9));
  t.same(positions, tipAt(0.9));
  t.equal(engine.opened.length, 2, 'the proximity set of the lost step is gone');
  t.ok(engine.opened[0]?.closed);
});

t.test('results that are known for the held state are not tested again', async (t) => {
  const { count, verifier } = countingVerifier();
  const session = new DirectSession(spike(1, 0), fakeEngine(arriving), { verifier });
  const asked = async (height: number, more: Parameters<DirectSession['step']>[1] = {}) => {
    count.states = 0;
    await session.step(tipAt(height), more);
    return count.states;
  };
  await session.open();
  t.equal(await asked(0.9), 1, 'the answer');
  t.equal(await asked(0.8, { start: session.state.start.slice() }), 1, 'its own state, sent along');
  t.equal(await asked(0.7, { start: tipAt(0.75) }), 2, 'a start of the caller’s');
  t.equal(await asked(0.6, { parameters: { kinematicPairs: 'PROTECT' } }), 2, 'another rule than it was tested by');
  t.equal(await asked(0.5, { parameters: { kinematicPairs: 'PROTECT' } }), 1);
  t.equal(await asked(0.4, { parameters: { kinematicPairs: 'PROTECT', verify: 'NONE' } }), 0);
  t.equal(await asked(0.3, { parameters: { kinematicPairs: 'PROTECT' } }), 2, 'it went out untested');
});

t.test('an explicit start is checked as in a resolve', async (t) => {
  const session = new DirectSession(spike(1, 0), fakeEngine(arriving));
  await session.open();
  const start = tipAt(-0.1);
  t.match(await refusalOf(session.step(tipAt(0.9), { start })), { code: 'INTERSECTING_START', pairCount: 2 });
  t.equal((await refusalOf(session.step(tipAt(0.9), { start: start.subarray(3) }))).code, 'SIZE_MISMATCH');
  t.equal((await refusalOf(session.step(tipAt(0.9).fill(Number.NaN, 0, 1)))).code, 'NOT_FINITE');
  t.same((await session.step(tipAt(0.9))).positions, tipAt(0.9), 'and nothing has changed');
});

t.test(
  'a change of kinematic vertices rebuilds mesh and scene, keeps the defaults, and tests the state again',
  async (t) => {
    const { count, verifier } = countingVerifier();
    const engine = fakeEngine(arriving);
    const session = new DirectSession(spike(1, 0), engine, { verifier });
    const { resolved } = await session.open();
    await session.step(tipAt(0.9));
    session.state = {
      ...session.state,
      meshVersion: 1,
      mesh: { ...session.state.mesh, kinematic: Uint8Array.of(1, 1, 1, 0, 0, 0) },
    };
    count.states = 0;
    const { report } = await session.step(tipAt(0.8));
    t.equal(count.states, 2);
    t.same([...engine.opened[1]!.mesh.kinematic], [1, 1, 1, 0, 0, 0]);
    t.ok(engine.opened[0]?.closed);
    t.equal(report.resolved.activationDistance, resolved.activationDistance);
    session.state = { ...session.state, meshVersion: 2, mesh: { ...session.state.mesh, kinematic: Uint8Array.of(1) } };
    t.equal((await refusalOf(session.step(tipAt(0.7)))).code, 'SIZE_MISMATCH');
  },
);

t.test('any other fault of the engine closes the scene; the next step opens another', async (t) => {
  let isBroken = true;
  const engine = fakeEngine((step) => {
    if (isBroken) throw new IntersticeError('OUT_OF_DEVICE_MEMORY', 'no room');
    return arriving(step, undefined as never);
  });
  const session = new DirectSession(spike(1, 0), engine);
  await session.open();
  t.equal((await refusalOf(session.step(tipAt(0.9)))).code, 'OUT_OF_DEVICE_MEMORY');
  t.ok(engine.opened[0]?.closed);
  isBroken = false;
  t.same((await session.step(tipAt(0.9))).positions, tipAt(0.9));
});

t.test('an answer that was not sent does not become the next start', async (t) => {
  const session = new DirectSession(spike(0.25, 0), fakeEngine(stepping(4)));
  await session.open();
  const fallen = await session.step(tipAt(-0.15));
  t.ok(fallen.report.verification.fellBack);
  t.match(session.findings, [{ kind: 'STATE', request: { target: tipAt(-0.15), start: tipAt(0.25) } }]);
  t.ok(Math.abs(tipOf(fallen.positions) - 0.05) < 1e-6);
  const next = await session.step(fallen.positions.slice());
  t.same(next.positions, fallen.positions);
  t.equal(session.findings.length, 1);
});

t.test(
  'float64: the engine continues from its own state, bit for bit, and rounding is not checked again',
  async (t) => {
    const shift = (height: number) => Float64Array.from(tipAt(height), (value) => value / 3 + 0.1);
    const starts: Float32Array[] = [];
    const ends: Float32Array[] = [];
    const { count, verifier } = countingVerifier();
    const engine = fakeEngine((step) => {
      starts.push(step.x.slice());
      const x = between(step.x, step.y, 0.5);
      ends.push(x.slice());
      return resolution(step, x, 'STALLED', 1);
    });
    const session = new DirectSession({ mesh: spike(1, 0).mesh, start: shift(1) }, engine, { verifier });
    await session.open();
    t.ok(count.paths > 0, 'the start is not exact in float32');
    for (const height of [0.9, 0.8, 0.7]) {
      count.paths = 0;
      const { positions } = await session.step(shift(height));
      t.ok(positions instanceof Float64Array);
      t.equal(count.paths, 0);
    }
    t.same(starts.slice(1), ends.slice(0, -1));
    t.equal(engine.opened.length, 1);
    count.paths = 0;
    await session.step(Float32Array.from(shift(0.6)));
    t.equal(count.paths, 1, 'a narrower target: may the start be rounded to it?');
  },
);

t.test('a session that moves away keeps its coordinate frame until precision would be lost', async (t) => {
  const engine = fakeEngine(arriving);
  const { mesh, start } = spike(1, 0);
  const session = new DirectSession({ mesh, start }, engine);
  await session.open();
  const away = (x: number) => start.map((value, i) => (i % 3 === 0 ? value + x : value));
  const at = async (x: number) => {
    await session.step(away(x));
    return engine.opened.length;
  };
  t.equal(await at(50), 1, 'farther than twice, but δ/100 is still the floor');
  t.equal(await at(4000), 1, 'the start counts, not the target');
  t.equal(await at(4001), 2, 'float32 has become too coarse there: fitted to where it is');
  t.equal(await at(4002), 2);
  t.equal(await at(4003), 2, 'and kept');
  t.ok(
    engine.opened.every(({ units }) => units.scale === engine.opened[0]!.units.scale),
    'the scale is for ever',
  );
});

t.test('the floor follows the state, within one frame', async (t) => {
  const engine = fakeEngine(arriving);
  const { mesh, start } = rods(0.5, 0);
  const session = new DirectSession({ mesh, start }, engine);
  const parameters = { activationDistance: 2e-4 };
  await session.open(parameters);
  const grown = start.map((value, i) => (i % 3 === 0 ? 1.5 * value : value));
  await session.step(grown, { parameters });
  await session.step(grown.slice(), { parameters });
  const [opened] = engine.opened;
  t.equal(engine.opened.length, 1);
  t.equal(opened!.configured.length, 1);
  t.ok(opened!.configured[0]!.units.floor > opened!.units.floor);
  const tiny = await refusalOf(session.step(grown, { parameters: { activationDistance: 1e-6 } }));
  t.equal(tiny.code, 'TOLERANCE_TOO_SMALL');
});

t.test('PATH: pieces are tested beginning at the committed answer', async (t) => {
  const { count, verifier } = countingVerifier();
  const session = new DirectSession(rods(0.5, 0), fakeEngine(arriving), { verifier });
  await session.open({ verify: 'PATH' });
  count.paths = 0;
  await session.step(rods(0.4, 0).start, { parameters: { verify: 'PATH' } });
  t.equal(count.paths, 1, 'one piece; that nothing touches at the start is known');
  const { report } = await session.step(rods(-0.4, 0).start, { parameters: { verify: 'PATH' } });
  t.ok(report.verification.fellBack);
  t.equal(session.findings[0]?.kind, 'PATH');
});
