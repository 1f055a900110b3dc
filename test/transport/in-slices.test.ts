import t from 'tap';
import type { ElementPair } from '../../src/contract/elements.js';
import type { CheckAnswer } from '../../src/contract/requests.js';
import { encodeJsonInSlices, encodeMessageInSlices } from '../../src/transport/in-slices.js';
import { encodeJson } from '../../src/transport/json/encode.js';
import { fromListSessionsAnswer } from '../../src/transport/messages/answers.js';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';
import { openDoor } from './door.js';
import { fakeCheckAnswer, fakeReport, fakeSession } from './fake-answers.js';

const pairs = (count: number): ElementPair[] =>
  Array.from({ length: count }, (_, i) => ({ kind: 'EDGE_EDGE', a: [i, i + 1], b: [i + 2, i + 3], distance: i / 3 }));

const answer = (intersections: number, closePairs: number): CheckAnswer => ({
  ...fakeCheckAnswer(),
  intersectionCount: intersections,
  intersections: pairs(intersections),
  closePairs: pairs(closePairs),
});

t.test('encoding in slices gives the same bytes', async (t) => {
  for (const [intersections, close] of [
    [0, 0],
    [1, 2000],
    [2001, 0],
    [4000, 4001],
    [3, 9999],
  ] as const) {
    const message = answer(intersections, close);
    const name = `${intersections} and ${close}`;
    const json = JSON.stringify(encodeJson('CheckResponse', message, { arrays: false }));
    t.ok((await encodeJsonInSlices('CheckResponse', message)).toString() === json, `JSON, ${name}`);
    const bytes = Buffer.from(encodeMessage('CheckResponse', message));
    t.ok(bytes.equals(await encodeMessageInSlices('CheckResponse', message)), `protobuf, ${name}`);
  }
  for (const [type, message] of [
    ['Session', fromListSessionsAnswer({ sessions: [fakeSession()], nextPageToken: '' })],
    ['Report', fakeReport()],
  ] as const) {
    const name = type === 'Session' ? 'ListSessionsResponse' : type;
    const json = JSON.stringify(encodeJson(name, message, { arrays: false }));
    t.equal((await encodeJsonInSlices(name, message)).toString(), json);
    t.same(await encodeMessageInSlices(name, message), encodeMessage(name, message));
  }
});

t.test('other requests are answered while a long list is encoded', async (t) => {
  const { app, operations } = await openDoor(t);
  let tellChecked: () => void = () => {};
  const checked = new Promise<void>((resolve) => {
    tellChecked = resolve;
  });
  operations.check = async () => {
    tellChecked();
    return answer(0, 200_000);
  };
  const order: string[] = [];
  const long = app
    .inject({ method: 'POST', url: '/v1/check', payload: { sessionId: 'ab' } })
    .then(() => order.push('long'));
  await checked;
  await app.inject('/livez').then(() => order.push('livez'));
  await long;
  t.same(order, ['livez', 'long']);
});
