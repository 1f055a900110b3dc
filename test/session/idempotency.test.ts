import t from 'tap';
import { IdempotencyKeys, type KeyedCreation } from '../../src/session/idempotency.js';
import type { Session } from '../../src/session/session.js';
import { SharedWork } from '../../src/session/shared-work.js';
import { at } from './room.js';

const request = {
  mesh: { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) },
  start: Float32Array.from(at(0)),
  parameters: {},
  idempotencyKey: 'k',
};
const clock = { monotonicMs: () => 0, wallMs: () => 0, after: () => () => {} };
const creation = (): KeyedCreation => ({ request, work: new SharedWork(clock), ended: Promise.resolve() });
const session = { contentHash: 'h' } as unknown as Session;

t.test('an abandoned creation that succeeds late leaves the key to the one that has it now', async (t) => {
  const keys = new IdempotencyKeys();
  const [abandoned, current] = [creation(), creation()];
  keys.begin('tenant', abandoned);
  abandoned.work.cancel(new Error('The caller has gone.'));
  t.equal(keys.find('tenant', request), undefined, 'the key is free again');
  keys.begin('tenant', current);
  keys.succeed('tenant', abandoned, session);
  t.equal(keys.find('tenant', request), current.work);
  keys.forget(session);
  t.equal(keys.find('tenant', request), current.work, 'and the end of its session does not free the key');
  keys.release('tenant', current);
  t.equal(keys.find('tenant', request), undefined);
});
