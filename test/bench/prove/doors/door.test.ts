import t from 'tap';
import { isClosedSocket, isLostCall, sendAgainIfLost } from '../../../../bench/prove/doors/door.js';

const closed = new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });

t.test('a request that was lost on a closed connection is sent again, and no other', async (t) => {
  let sent = 0;
  const failing = (errors: readonly unknown[]) => () => {
    const error = errors[sent++];
    return error === undefined ? Promise.resolve('answer') : Promise.reject(error);
  };
  t.equal(await sendAgainIfLost(failing([closed]), isClosedSocket), 'answer');
  t.equal(sent, 2);
  sent = 0;
  await t.rejects(sendAgainIfLost(failing([new Error('other')]), isClosedSocket), { message: 'other' });
  t.equal(sent, 1);
  sent = 0;
  await t.rejects(sendAgainIfLost(failing([closed, closed, closed, closed]), isClosedSocket), closed);
  t.equal(sent, 3, 'a service that is gone is a finding after all');
});

t.test('a refused connection and a refusal of the service are no lost connection', async (t) => {
  t.notOk(isClosedSocket(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })));
  t.notOk(isClosedSocket(new DOMException('aborted', 'AbortError')));
  t.ok(isLostCall({ code: 14 }));
  t.notOk(isLostCall({ code: 1 }));
});
