import t from 'tap';
import type { Priority } from '../../src/contract/requests.js';
import { restoreSession } from '../../src/session/restore.js';
import type { Session } from '../../src/session/session.js';
import { type OpeningRecord, pack } from '../../src/session/stored-session.js';
import type { StoredSession } from '../../src/store/session-store.js';
import { FakeClock, FakeScheduler } from './fake-scheduler.js';
import { at, ENGINE, opening } from './room.js';

const { mesh, start } = opening();
const NAME = { id: 'a session', tenant: 'a tenant' };

/** A session of another process without a frame, as the store has it. */
async function stored(by: string, priority: Priority | undefined, base: StoredSession['base']): Promise<StoredSession> {
  const hooks = { claim: { tenant: NAME.tenant, priority: 'NORMAL' as const } };
  const state = { key: 1, meshVersion: 0, mesh, stateVersion: 0, start };
  const opened = await new FakeScheduler().open({ state, parameters: {}, receivedAt: 0, queuedAt: 0 }, hooks);
  const record: OpeningRecord = { by, start, parameters: {}, created: 0, opened, ...(priority ? { priority } : {}) };
  const place = { changes: {}, positions: at(1), lastTarget: at(1), meshVersion: 0, stateVersion: 1, lastVersion: 1 };
  return {
    ...{ epoch: 1, frame: 0n, token: '', order: 1, base, logged: 0, log: [] },
    mesh: pack(mesh),
    opening: pack(record),
    settings: pack({ parameters: {}, label: '', idleTimeoutSeconds: 60 }),
    info: pack({}),
    ...(base === 'checkpoint' ? { checkpoint: pack({ frame: 0n, by, place, saved: { arrays: [] } }) } : {}),
  } as unknown as StoredSession;
}

/** Restores it here. @returns the priorities by which its scene got its lanes */
async function lanesOf(session: StoredSession): Promise<{ readonly session: Session; readonly asked: Priority[] }> {
  const scheduler = new FakeScheduler();
  const clock = new FakeClock();
  const services = { scheduler, clock, allowUnverified: false, engine: ENGINE, by: 'here' };
  const restored = await restoreSession(session, NAME, 7, services);
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
