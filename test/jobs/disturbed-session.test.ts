import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import type { MeshInput } from '../../src/contract/mesh.js';
import type { ParametersInput } from '../../src/contract/parameters.js';
import type { StepTask } from '../../src/jobs/tasks.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { deviceLikeEngine } from '../support/device-like.js';
import { lasting, motionOf } from '../support/parked-sessions.js';
import { type Random, seeded } from '../support/random.js';
import { DirectSession } from '../support/scenes.js';

/**
 * Random steps of a session, with every option that changes what a step continues from. Between them the session is
 * parked, and gets steps that are refused, cancelled, or computed and not committed. It answers like one without all that,
 * unless no step keeps the pairs that it begins from: then it may say that they are lost.
 */

const SESSIONS = 2;
const FRAMES = 8;

// A machine that does much else takes long; nothing is judged by time.
t.setTimeout(600_000);

interface Step {
  readonly target: StepTask['target'];
  readonly more: Partial<StepTask>;
  readonly changes: Partial<MeshInput>;
}

const { mesh, start, frames } = motionOf('layers', 120);
const { vertexCount } = mesh;

function drawStep(random: Random, earlier: readonly StepTask['target'][]): Step {
  const parameters: ParametersInput = {
    quality: random.int(2) ? 'FAST' : 'BALANCED',
    kinematicPairs: random.int(3) ? 'SKIP' : 'PROTECT',
    onIntersectingStart: random.int(3) ? 'REJECT' : 'IGNORE_PAIRS',
    verify: random.int(4) ? 'STATE' : 'PATH',
    ...(random.int(4) ? {} : { stepLimit: 1 + random.int(9) }),
  };
  const from = random.int(5) ? undefined : earlier[random.int(earlier.length)]?.slice();
  const flags = Uint8Array.from({ length: vertexCount }, () => (random.int(12) ? 0 : 1));
  const masses = Float32Array.from({ length: vertexCount }, () => random.between(0.5, 2));
  const near = (frames[random.int(frames.length)] as Float32Array).map((x) => x + random.between(-0.002, 0.002));
  return {
    // A state in another scalar has another coordinate frame.
    target: random.int(6) ? near : Float64Array.from(near),
    more: { parameters, ...(from ? { start: from } : {}) },
    changes: random.int(3) ? {} : random.int(2) ? { kinematic: flags } : { masses },
  };
}

let meshVersion = 1_000_000;

/** The session takes the mesh of the step only if the step is accepted. @returns the answer, or the code of the refusal */
async function take(session: DirectSession, { target, more, changes }: Step, isCommitted = true) {
  const { state } = session;
  if (Object.keys(changes).length > 0)
    session.state = { ...state, meshVersion: ++meshVersion, mesh: { ...state.mesh, ...changes } };
  try {
    const answer = await session.step(target, more, { isCommitted });
    if (!isCommitted) session.state = state;
    return answer;
  } catch (thrown) {
    session.state = state;
    if (thrown instanceof IntersticeError) return thrown.code;
    throw thrown;
  }
}

async function disturb(random: Random, session: DirectSession, step: Step): Promise<void> {
  const wrong = step.target.slice();
  wrong[random.int(wrong.length)] = Number.NaN;
  switch (random.int(5)) {
    case 0:
      // Parking a parked session would lose what it has saved, which only the scheduler keeps.
      if (session.scenes.heldOf(session.state.key)) await session.park();
      return;
    case 1:
      t.equal(await take(session, { ...step, target: wrong }), 'NOT_FINITE');
      return;
    case 2:
      await take(session, step, false);
      return;
    case 3:
      session.cancelsAfter = random.int(3);
      await take(session, step, false);
      session.cancelsAfter = Number.POSITIVE_INFINITY;
      return;
    default:
      session.isCancelled = true;
      await take(session, step, false);
      session.isCancelled = false;
  }
}

for (const openEngine of [createCpuEngine, deviceLikeEngine]) {
  t.test(`${openEngine.name}: a disturbed session answers like an undisturbed one`, async (t) => {
    const random = seeded();
    t.comment(`TEST_SEED=${random.seed}`);
    for (let n = 0; n < SESSIONS; n++) {
      let calm = new DirectSession({ mesh, start }, openEngine());
      const disturbed = new DirectSession({ mesh, start }, openEngine());
      for (const session of [calm, disturbed]) await session.open();
      const earlier: StepTask['target'][] = [start];
      for (let frame = 1; frame <= FRAMES; frame++) {
        for (let times = random.int(4); times > 0; times--) await disturb(random, disturbed, drawStep(random, earlier));
        const step = drawStep(random, earlier);
        const [expected, answer] = [await take(calm, step), await take(disturbed, step)];
        if (typeof expected !== 'object' || typeof answer !== 'object') {
          t.equal(answer, expected, `frame ${frame} is refused`);
          continue;
        }
        earlier.push(answer.positions);
        if (openEngine === deviceLikeEngine && answer.report.sessionRebuilt) {
          calm = await disturbed.copy();
          continue;
        }
        t.strictSame(answer.positions, expected.positions, `frame ${frame}`);
        t.strictSame(lasting(answer.report), lasting(expected.report), `the report of frame ${frame}`);
      }
    }
  });
}
