import t from 'tap';
import type { MeshInput } from '../../src/contract/mesh.js';
import type { StepOutcome, StepTask } from '../../src/jobs/tasks.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import type { Engine } from '../../src/solver/engine.js';
import { deviceLikeEngine } from '../support/device-like.js';
import { refusalOf } from '../support/job.js';
import { seeded } from '../support/random.js';
import { DirectSession } from '../support/scenes.js';

/*
 * Steps of a session that change what counts as kinematic, and steps that would have.
 */

type Vector = readonly [number, number, number];

/** Far from the middle of the mesh, in edges: float32 rounds coordinates there by more than CLOSE. */
const AWAY = 1000;
const CLOSE = 1e-9;

/**
 * Two kinematic triangles, the first above the second by less than float32 can tell, which rounds the first downwards and
 * the second upwards; others on the opposite side, so that the middle of the mesh is far away. `isAbove` of an answer: the
 * first is still above the second. The target takes the first through the second.
 */
function closePair() {
  const random = seeded();
  const length = Math.hypot(1, 1.7);
  const up: Vector = [1 / length, 0, 1.7 / length];
  const along: Vector = [1.7 / length, 0, -1 / length];
  const heightOf = ([x, , z]: Vector): number => (x - AWAY) * up[0] + (z - AWAY) * up[2];
  const pick = (forth: number, across: number, height: number, sign: number): Vector => {
    for (;;) {
      const a = forth + 0.05 * (random() - 0.5);
      const y = across + 0.05 * (random() - 0.5);
      const p: Vector = [AWAY + a * along[0] + height * up[0], y, AWAY + a * along[2] + height * up[2]];
      const rounded: Vector = [Math.fround(p[0]), Math.fround(p[1]), Math.fround(p[2])];
      if (sign * (heightOf(rounded) - heightOf(p)) > 2.2e-5) return p;
    }
  };
  const above = [pick(-0.5, -0.5, 0, -1), pick(0.5, -0.5, 0, -1), pick(0, 0.5, 0, -1)];
  const below = [pick(-0.5, 0.3, -CLOSE, 1), pick(0.5, 0.3, -CLOSE, 1), pick(0, -0.6, -CLOSE, 1)];
  const far = AWAY + 2;
  const others: Vector[] = [
    [-far, -2, -far],
    [1 - far, -2, -far],
    [-far, -1, -far],
    [far, 2, far],
    [far - 1, 2, far],
    [far, 1, far],
  ];
  const start = Float64Array.from([...above, ...below, ...others].flat());
  const target = start.map((value, k) => (k < 9 ? value - 0.5 * up[k % 3]! : value));
  const kinematic = Uint8Array.from({ length: 12 }, (_, v) => (v < 6 ? 1 : 0));
  const mesh = { vertexCount: 12, triangles: Uint32Array.from({ length: 12 }, (_, v) => v), kinematic };
  return { mesh, start, target, seed: random.seed };
}

t.test('pairs that count anew are tested as the engine rounds them', async (t) => {
  const { mesh, start, target, seed } = closePair();
  t.comment(`seed ${seed}`);
  const open = async (rule: Partial<StepTask['parameters']> = {}) => {
    const session = new DirectSession({ mesh, start }, createCpuEngine());
    const parameters = { activationDistance: 0.3, ...rule };
    await session.open(parameters);
    const { report } = await session.step(start, { parameters });
    t.equal(report.status, 'CONVERGED');
    return { session, parameters };
  };
  const refused = { code: 'TOLERANCE_TOO_SMALL', message: /when the engine rounds them/ };
  const one = await open();
  const protect = { ...one.parameters, kinematicPairs: 'PROTECT' } as const;
  t.match(await refusalOf(one.session.step(target, { parameters: protect })), refused, 'by another rule');
  const two = await open();
  changeMesh(two.session, { kinematic: new Uint8Array(12) });
  t.match(await refusalOf(two.session.step(target, two)), refused, 'because they are dynamic');
  const three = await open();
  changeMesh(three.session, { kinematic: new Uint8Array(12) });
  await three.session.park();
  t.match(await refusalOf(three.session.step(target, three)), refused, 'and were parked meanwhile');
});

let meshVersions = 1_000_000;

/** As a step with kinematic flags or masses does. @returns what undoes it */
function changeMesh(session: DirectSession, changes: Partial<MeshInput>): () => void {
  const { mesh, meshVersion } = session.state;
  session.state = { ...session.state, mesh: { ...mesh, ...changes }, meshVersion: ++meshVersions };
  return () => {
    session.state = { ...session.state, mesh, meshVersion };
  };
}

/** Three sheets above each other, which move towards the middle one. */
function layers() {
  const side = 8;
  const corners: number[] = [];
  const triangles: number[] = [];
  for (let layer = 0; layer < 3; layer++) {
    const first = corners.length / 3;
    for (let i = 0; i <= side; i++) {
      for (let j = 0; j <= side; j++) {
        corners.push(i + 0.1 * layer, j + 0.2 * layer, 0.12 * layer + 0.02 * Math.sin(2 * i + j));
      }
    }
    for (let i = 0; i < side; i++) {
      for (let j = 0; j < side; j++) {
        const a = first + i * (side + 1) + j;
        const b = a + side + 1;
        triangles.push(a, b, a + 1, a + 1, b, b + 1);
      }
    }
  }
  const start = Float32Array.from(corners);
  const vertexCount = start.length / 3;
  const targetAt = (frame: number): Float32Array =>
    start.map((value, k) => {
      const v = Math.floor(k / 3);
      const layer = Math.floor((3 * v) / vertexCount);
      return value + [0.01 * frame * Math.cos(v), 0, (1 - layer) * 0.05 * frame][k % 3]!;
    });
  return { mesh: { vertexCount, triangles: Uint32Array.from(triangles) }, start, targetAt };
}

t.test('a step with another mesh leaves no trace if it is not accepted', async (t) => {
  const { mesh, start, targetAt } = layers();
  const kinematic = Uint8Array.from({ length: mesh.vertexCount }, (_, v) => (v === 0 ? 1 : 0));
  const masses = Float32Array.from({ length: mesh.vertexCount }, (_, v) => 1 + (v % 3));
  const tooSmall = { parameters: { activationDistance: 1e-9 } };
  const attempts: readonly (readonly [string, (session: DirectSession) => Promise<unknown>])[] = [
    [
      'refused',
      async (session) => {
        changeMesh(session, { kinematic });
        t.equal((await refusalOf(session.step(targetAt(7), tooSmall))).code, 'TOLERANCE_TOO_SMALL');
      },
    ],
    [
      'refused twice, with different meshes',
      async (session) => {
        for (const changes of [{ kinematic }, { masses }]) {
          changeMesh(session, changes);
          t.equal((await refusalOf(session.step(targetAt(7), tooSmall))).code, 'TOLERANCE_TOO_SMALL');
        }
      },
    ],
    [
      'answered, and not committed',
      async (session) => {
        changeMesh(session, { masses });
        await session.step(targetAt(7), {}, { isCommitted: false });
      },
    ],
    [
      'answered, parked, and not committed',
      async (session) => {
        changeMesh(session, { masses });
        await session.step(targetAt(7), {}, { isCommitted: false });
        await session.park();
      },
    ],
    [
      'answered, not committed, and another one refused',
      async (session) => {
        changeMesh(session, { masses });
        await session.step(targetAt(7), {}, { isCommitted: false });
        changeMesh(session, { kinematic });
        t.equal((await refusalOf(session.step(targetAt(7), tooSmall))).code, 'TOLERANCE_TOO_SMALL');
      },
    ],
    [
      'answered with the same mesh and not committed, and one with another mesh refused',
      async (session) => {
        await session.step(targetAt(7), {}, { isCommitted: false });
        changeMesh(session, { kinematic });
        t.equal((await refusalOf(session.step(targetAt(7), tooSmall))).code, 'TOLERANCE_TOO_SMALL');
      },
    ],
    [
      'refused, and parked',
      async (session) => {
        changeMesh(session, { kinematic });
        t.equal((await refusalOf(session.step(targetAt(7), tooSmall))).code, 'TOLERANCE_TOO_SMALL');
        await session.park();
      },
    ],
    [
      'parked, and refused twice with different meshes',
      async (session) => {
        await session.park();
        for (const changes of [{ kinematic }, { masses }]) {
          changeMesh(session, changes);
          t.equal((await refusalOf(session.step(targetAt(7), tooSmall))).code, 'TOLERANCE_TOO_SMALL');
        }
      },
    ],
    [
      'refused between parkings',
      async (session) => {
        for (const changes of [{ kinematic }, { masses }]) {
          await session.park();
          changeMesh(session, changes);
          t.equal((await refusalOf(session.step(targetAt(7), tooSmall))).code, 'TOLERANCE_TOO_SMALL');
        }
        await session.park();
      },
    ],
    [
      'answered, not committed, another one refused that has the mesh of before, and parked',
      async (session) => {
        const { state } = session;
        changeMesh(session, { masses });
        await session.step(targetAt(7), {}, { isCommitted: false });
        session.state = state;
        t.equal((await refusalOf(session.step(targetAt(7), tooSmall))).code, 'TOLERANCE_TOO_SMALL');
        await session.park();
      },
    ],
    [
      'parked, answered, and not committed',
      async (session) => {
        await session.park();
        changeMesh(session, { masses });
        await session.step(targetAt(7), {}, { isCommitted: false });
      },
    ],
  ];
  const FRAMES = [1, 2, 3, 4, 5, 6, 7];
  const open = async (engine: Engine) => {
    const session = new DirectSession({ mesh, start }, engine);
    await session.open();
    return session;
  };
  /** Before frame 3 another mesh is accepted, so that there is one to return to besides that of the beginning. */
  const step = (session: DirectSession, frame: number) => {
    if (frame === 3) changeMesh(session, { masses: masses.map((mass) => 2 * mass) });
    return session.step(targetAt(frame));
  };
  const calm = await open(createCpuEngine());
  const undisturbed: StepOutcome[] = [];
  for (const frame of FRAMES) undisturbed.push(await step(calm, frame));
  for (const [what, attempt] of attempts) {
    // Where no step keeps the pairs that it begins from, the next answer says that they are lost.
    for (const openEngine of [createCpuEngine, deviceLikeEngine]) {
      const session = await open(openEngine());
      for (const frame of FRAMES) {
        if (frame === 5) {
          const { state } = session;
          await attempt(session);
          session.state = state;
        }
        const [after, without] = [await step(session, frame), undisturbed[frame - 1]!];
        if (openEngine === deviceLikeEngine && frame === 5 && after.report.sessionRebuilt) break;
        t.strictSame(after.positions, without.positions, `${what}: frame ${frame}`);
        for (const key of ['searches', 'proximitySetReused', 'sessionRebuilt'] as const) {
          t.equal(after.report[key], without.report[key], `${what}, ${openEngine.name}: ${key} of frame ${frame}`);
        }
      }
    }
  }
});
