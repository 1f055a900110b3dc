import t from 'tap';
import { refusalOf } from '../support/job.js';
import { settle } from './fake-scheduler.js';
import { opening, openRoom, tenant } from './room.js';

t.test('a session whose id the caller never learned is deleted by the key of its creation', async (t) => {
  const { operations } = openRoom(t);
  const { id } = await operations.createSession(opening({ idempotencyKey: 'k' }), tenant('anna'));
  t.equal((await refusalOf(operations.deleteSession('key:k', tenant('bert')))).code, 'SESSION_NOT_FOUND');
  t.equal((await refusalOf(operations.deleteSession('key:', tenant('anna')))).code, 'SESSION_NOT_FOUND');
  await operations.deleteSession('key:k', tenant('anna'));
  t.equal((await refusalOf(operations.getSession(id, tenant('anna')))).code, 'SESSION_NOT_FOUND');
  const gone = await refusalOf(operations.deleteSession('key:k', tenant('anna')));
  t.match(gone, { code: 'SESSION_NOT_FOUND', message: 'There is no session with this idempotency key.' });
  t.ok(
    (await operations.createSession(opening({ idempotencyKey: 'k', label: 'b' }), tenant('anna'))).id,
    'the key is free',
  );
});

t.test('a creation that still runs is given up by its key, although its caller is still connected', async (t) => {
  const { operations, scheduler } = openRoom(t);
  scheduler.isManual = true;
  const creating = refusalOf(operations.createSession(opening({ idempotencyKey: 'k' })));
  await settle();
  t.equal((await refusalOf(operations.deleteSession('key:k'))).code, 'SESSION_NOT_FOUND', 'nothing was created');
  t.ok(scheduler.opens[0]!.hooks.signal!.aborted);
  t.equal((await creating).code, 'CANCELLED');
  t.same((await operations.listSessions({})).sessions, []);
});

t.test('a creation that ends at the moment in which it is given up leaves nothing behind', async (t) => {
  const { operations, scheduler } = openRoom(t);
  scheduler.isManual = true;
  const creating = refusalOf(operations.createSession(opening({ idempotencyKey: 'k' })));
  await settle();
  // The lane has opened the scene; the creation learns of it in a later turn.
  scheduler.opens[0]!.finish();
  t.equal((await refusalOf(operations.deleteSession('key:k'))).code, 'SESSION_NOT_FOUND');
  t.equal((await creating).code, 'CANCELLED');
  t.same((await operations.listSessions({})).sessions, []);
  t.equal(scheduler.forgotten.length, 1, 'the scene is forgotten');
});
