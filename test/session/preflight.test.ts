import t from 'tap';
import type { Preflight } from '../../src/contract/call-context.js';
import { IntersticeError } from '../../src/contract/errors.js';
import { LIMITS as openLimits, refusalOf } from '../support/job.js';
import { settle } from './fake-scheduler.js';
import { opening, openRoom, stepOf, tenant } from './room.js';

type Room = ReturnType<typeof openRoom>;

const codeOf = ({ operations }: Room, preflight: Preflight, who = tenant('a')): string => {
  try {
    operations.preflight(preflight, who)();
    return 'OK';
  } catch (thrown) {
    return IntersticeError.from(thrown).code;
  }
};

t.test('a session that does not exist, or belongs to another tenant, is refused before the body', async (t) => {
  const room = openRoom(t);
  const { id } = await room.operations.createSession(opening(), tenant('a'));
  for (const operation of ['step', 'updateSession'] as const) {
    t.equal(codeOf(room, { operation, sessionId: id }), 'OK');
    t.equal(codeOf(room, { operation, sessionId: id }, tenant('b')), 'SESSION_NOT_FOUND');
    t.equal(codeOf(room, { operation, sessionId: 'f'.repeat(32) }), 'SESSION_NOT_FOUND');
  }
  await settle();
  t.match(
    room.events.filter((event) => event.type === 'request' && event.code !== 'OK'),
    [{ operation: 'step', code: 'SESSION_NOT_FOUND', tenant: 'b' }, {}, {}, {}],
    'the refusal counts as one of its operation',
  );
});

t.test(
  'a session beyond the quota is refused before its mesh, unless an idempotency key may stand for one',
  async (t) => {
    const room = openRoom(t, { maxSessionsPerTenant: 1 });
    const { operations } = room;
    t.equal(codeOf(room, { operation: 'createSession' }), 'OK');
    const { id } = await operations.createSession(opening(), tenant('a'));
    t.equal(codeOf(room, { operation: 'createSession' }), 'QUOTA_EXCEEDED');
    t.equal(codeOf(room, { operation: 'createSession' }, tenant('b')), 'OK');
    await operations.deleteSession(id, tenant('a'));
    const keyed = await operations.createSession(opening({ idempotencyKey: 'k' }), tenant('a'));
    t.equal(codeOf(room, { operation: 'createSession' }), 'OK', 'the body may carry that key');
    t.equal((await operations.createSession(opening({ idempotencyKey: 'k' }), tenant('a'))).id, keyed.id);
    t.equal((await refusalOf(operations.createSession(opening(), tenant('a')))).code, 'QUOTA_EXCEEDED');
  },
);

t.test(
  'the scheduler judges the known facts; a step behind another step of its session meets the bound of queued steps',
  async (t) => {
    const room = openRoom(t, { limits: { ...openLimits, maxQueue: 2 } });
    const { scheduler, operations } = room;
    const session = await operations.createSession(opening(), tenant('a'));
    t.equal(codeOf(room, { operation: 'step', sessionId: session.id, bytes: 36 }), 'OK');
    t.match(scheduler.preflights.at(-1), {
      tenant: 'a',
      session: 1,
      bytes: 36,
      isForScene: true,
      mesh: { vertexCount: 3 },
    });
    t.equal(codeOf(room, { operation: 'resolve', bytes: 99 }), 'OK');
    t.match(scheduler.preflights.at(-1), { tenant: 'a', bytes: 99, isForScene: false });

    scheduler.isManual = true;
    const countBefore = scheduler.preflights.length;
    const steps = [1, 2, 3].map((target) => operations.step(stepOf(session, target), tenant('a')));
    t.equal(codeOf(room, { operation: 'step', sessionId: session.id }), 'QUEUE_FULL', 'one runs, two wait');
    t.equal(scheduler.preflights.length, countBefore);
    for (let done = 0; done < steps.length; done++) {
      await settle();
      scheduler.steps.at(-1)!.finish();
      await steps[done];
    }
    t.equal(codeOf(room, { operation: 'step', sessionId: session.id }), 'OK');
  },
);

t.test('a step that has waited behind another one is not refused by the scheduler', async (t) => {
  const { scheduler, operations } = openRoom(t);
  const session = await operations.createSession(opening());
  scheduler.isManual = true;
  const steps = [1, 2].map((target) => operations.step(stepOf(session, target)));
  await settle();
  t.equal(scheduler.steps[0]?.hooks.hasPlace, false);
  scheduler.steps[0]!.finish();
  await settle();
  t.equal(scheduler.steps[1]?.hooks.hasPlace, true);
  scheduler.steps[1]!.finish();
  await Promise.all(steps);
});

t.test('pending uploads count against the queue, and slow ones stop counting', async (t) => {
  const { operations, scheduler, clock } = openRoom(t);
  const preflight = () => operations.preflight({ operation: 'resolve' });
  const ahead = () => scheduler.preflights.at(-1)?.ahead.count;
  const arrivals = [preflight(), preflight(), preflight()];
  t.equal(ahead(), 2);
  arrivals[0]!();
  arrivals[0]!();
  preflight();
  t.equal(ahead(), 2, 'one upload is complete, and its second call changes nothing');
  clock.advance(5000);
  preflight();
  t.equal(ahead(), 0);
  arrivals[1]!();
  preflight();
  t.equal(ahead(), 1, 'a late upload is not subtracted a second time');
});

t.test('a step behind one that is being uploaded meets the bound of queued steps', async (t) => {
  const room = openRoom(t, { limits: { ...openLimits, maxQueue: 1 } });
  const { operations, scheduler } = room;
  const { id } = await operations.createSession(opening(), tenant('a'));
  const arrived = operations.preflight({ operation: 'step', sessionId: id }, tenant('a'));
  t.equal(scheduler.preflights.length, 1);
  t.equal(codeOf(room, { operation: 'step', sessionId: id }), 'QUEUE_FULL');
  t.equal(scheduler.preflights.length, 1, 'the scheduler was not asked');
  arrived();
  t.equal(codeOf(room, { operation: 'step', sessionId: id }), 'OK');
});

t.test('pending uploads count with the bytes stated in their headers', async (t) => {
  const room = openRoom(t, { maxQueueBytes: 100 });
  const { operations, scheduler } = room;
  const session = await operations.createSession(opening(), tenant('a'));
  const arrived = operations.preflight({ operation: 'resolve', bytes: 70 });
  operations.preflight({ operation: 'resolve' });
  operations.preflight({ operation: 'resolve', bytes: 5 });
  t.same(scheduler.preflights.at(-1)?.ahead, { count: 2, bytes: 70 });
  scheduler.isManual = true;
  const step = operations.step(stepOf(session, 1), tenant('a'));
  await settle();
  const behind = { operation: 'step', sessionId: session.id, bytes: 30 } as const;
  t.equal(codeOf(room, behind), 'QUEUE_FULL', '75 bytes are being uploaded');
  arrived();
  t.equal(codeOf(room, behind), 'OK');
  scheduler.steps[0]!.finish();
  await step;
});
