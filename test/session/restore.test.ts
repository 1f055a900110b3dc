import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import type { Parameters } from '../../src/contract/parameters.js';
import type { Priority } from '../../src/contract/requests.js';
import { restoreSession } from '../../src/session/restore.js';
import type { Session } from '../../src/session/session.js';
import { type CheckpointRecord, type HeadRecord, type OpeningRecord, pack } from '../../src/session/stored-session.js';
import type { StoredSession } from '../../src/store/session-store.js';
import { FakeClock, FakeScheduler, freshReport } from './fake-scheduler.js';
import { at, ENGINE, opening } from './room.js';

const { mesh, start } = opening();
const NAME = { id: 'a session', tenant: 'a tenant' };

function checkpointOf(by: string): CheckpointRecord {
  return {
    ...{ frame: 0n, by },
    place: { changes: {}, positions: at(1), lastTarget: at(2), meshVersion: 0, stateVersion: 1, lastVersion: 1 },
    saved: {
      ...{ meshVersion: 0, stateVersion: 1, engine: undefined, kinematicPairs: undefined, verified: undefined },
      ...{ fitted: undefined, excluded: undefined, checkMs: 0, isSceneLost: false },
      scene: {
        parameters: {} as Parameters,
        units: { scale: 1, floor: 1 },
        step: 3,
        proximity: {
          ...{ kind: Uint8Array.of(0), vertex: Int32Array.of(0, 1, 2, -1), normal: new Float32Array(3) },
          ...{ box: new Float32Array(18), mask: new Uint8Array(3), searched: new Float32Array(0) },
          ...{ growth: 1, radius: 1, partialBudget: 0, worn: 0, excluded: undefined },
        },
      },
    },
  };
}

/** A session of another process without a frame, as the store has it. */
async function stored(by: string, priority: Priority | undefined, base: StoredSession['base']): Promise<StoredSession> {
  const hooks = { claim: { tenant: NAME.tenant, priority: 'NORMAL' as const } };
  const state = { key: 1, meshVersion: 0, mesh, stateVersion: 0, start };
  const opened = await new FakeScheduler().open({ state, parameters: {}, receivedAt: 0, queuedAt: 0 }, hooks);
  const record: OpeningRecord = { by, start, parameters: {}, created: 0, opened, ...(priority ? { priority } : {}) };
  return {
    ...{ epoch: 1, frame: 0n, token: '', order: 1, base, logged: 0, log: [] },
    mesh: pack(mesh),
    opening: pack(record),
    settings: pack({ parameters: {}, label: '', idleTimeoutSeconds: 60 }),
    info: pack({}),
    ...(base === 'checkpoint' ? { checkpoint: pack(checkpointOf(by)) } : {}),
  } as unknown as StoredSession;
}

/** Restores it here. @returns the priorities by which its scene got its lanes */
async function lanesOf(session: StoredSession): Promise<{ readonly session: Session; readonly asked: Priority[] }> {
  const scheduler = new FakeScheduler();
  const clock = new FakeClock();
  const restored = await restoreSession(session, NAME, 7, { ...services(), scheduler, clock });
  const claims = [...scheduler.opens.map(({ hooks }) => hooks.claim), ...scheduler.adopted];
  return { session: restored!.session, asked: claims.map(({ priority }) => priority) };
}

for (const base of ['opening', 'checkpoint'] as const) {
  t.test(`a session whose tenant is limited to BATCH gets batch lanes again, from its ${base}`, async (t) => {
    const { session, asked } = await lanesOf(await stored('here', 'BATCH', base));
    t.same(asked, ['BATCH']);
    t.equal(session.openingRecord('here').priority, 'BATCH', 'and once more in the next process');
  });
}

t.test('the same holds for a session whose scene is lost, because another engine has computed it', async (t) => {
  t.same((await lanesOf(await stored('elsewhere', 'BATCH', 'opening'))).asked, ['BATCH']);
});

t.test('others do not get them, nor do those stored by a version that did not store the priority', async (t) => {
  for (const priority of ['NORMAL', undefined] as const) {
    for (const base of ['opening', 'checkpoint'] as const) {
      const { asked } = await lanesOf(await stored('here', priority, base));
      t.same([asked.length, asked.includes('BATCH')], [1, false], `${priority}, ${base}`);
    }
  }
});

/** A session at frame 1, whose checkpoint has been changed, and which has the given inputs since. */
async function damaged(checkpoint: unknown, log: readonly unknown[] = []): Promise<StoredSession> {
  const answer = { positions: at(1), report: freshReport() };
  const head: HeadRecord = { frame: 1n, digest: '', answer, changes: {}, sceneBytes: 100 };
  const one = await stored('here', undefined, 'checkpoint');
  return { ...one, frame: 1n, head: pack(head), checkpoint: pack(checkpoint), log: log.map(pack) };
}

const services = () => ({
  scheduler: new FakeScheduler(),
  clock: new FakeClock(),
  allowUnverified: false,
  engine: ENGINE,
  by: 'here',
  onUnreadable: (_reason: unknown) => {},
});

const whole = checkpointOf('here');
const withScene = (change: object) => ({
  ...whole,
  saved: { ...whole.saved, scene: { ...whole.saved.scene!, ...change } },
});
const withPairs = (change: object) => withScene({ proximity: { ...whole.saved.scene!.proximity!, ...change } });
const DAMAGES: Readonly<Record<string, unknown>> = {
  'nothing but its origin': { by: 'here' },
  'no frame': { ...whole, saved: { ...whole.saved, fitted: { frame: { origin: [0, 0] }, scalar: 'FLOAT32' } } },
  'no scene': { ...whole, saved: { arrays: [] } },
  'positions of another mesh': { ...whole, place: { ...whole.place, positions: at(1).slice(3) } },
  'a target of another type': { ...whole, place: { ...whole.place, lastTarget: [...at(2)] } },
  'another step count': withScene({ step: -1 }),
  'a pair of no vertex': withPairs({ vertex: Int32Array.of(0, 1, 3, -1) }),
  'a pair without a normal': withPairs({ normal: new Float32Array(0) }),
  'a pair of no kind': withPairs({ kind: Uint8Array.of(200) }),
  'too few boxes': withPairs({ box: new Float32Array(12) }),
  'no growth': withPairs({ growth: Number.NaN }),
};

t.test('a checkpoint that cannot be used costs a session its scene, not more', async (t) => {
  t.match(await restoreSession(await damaged(whole), NAME, 7, services()), { scene: 'exact' }, 'a whole one is used');
  for (const [name, checkpoint] of Object.entries(DAMAGES)) {
    const reasons: unknown[] = [];
    const onUnreadable = (reason: unknown) => reasons.push(reason);
    const restored = await restoreSession(await damaged(checkpoint), NAME, 7, { ...services(), onUnreadable });
    t.match(restored, { scene: 'lost', repeated: 0 }, name);
    t.match(restored?.session.lastStep.frame, 1n);
    t.same(restored?.session.state, at(1));
    t.equal(reasons.length, 1, 'it is reported');
  }
});

t.test('the same holds for inputs that this process cannot compute again', async (t) => {
  const entry = { frame: 1n, by: 'here', isRepeatable: true, target: at(2), parameters: {} };
  for (const [failure, outcome] of [
    [new TypeError('It is no scene.'), 'lost'],
    [new IntersticeError('INTERNAL', 'The thread has died.'), 'lost'],
    [new IntersticeError('INVALID_PARAMETER', 'This process does not allow it.'), 'lost'],
    [new IntersticeError('OUT_OF_DEVICE_MEMORY', 'There is no room now.'), 'refused'],
    [new IntersticeError('TOO_LARGE', 'There is never room here.'), 'refused'],
    [new IntersticeError('DRAINING', 'The process ends.'), 'refused'],
  ] as const) {
    const room = services();
    room.scheduler.step = () => Promise.reject(failure);
    const restoring = restoreSession(await damaged(whole, [entry]), NAME, 7, room);
    if (outcome === 'refused') await t.rejects(restoring, failure);
    else t.match(await restoring, { scene: 'lost', session: { lastStep: { frame: 1n } } }, failure.message);
  }
});
