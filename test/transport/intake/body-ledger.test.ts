import t from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { type BodyAccount, BodyLedger, SMALL_BODY_BYTES } from '../../../src/transport/intake/body-ledger.js';
import { seeded } from '../../support/random.js';

const MiB = 1 << 20;

/** Why a body is refused; OK if it is not. */
function tryGrow(account: BodyAccount, bytes: number): string {
  try {
    account.growTo(bytes);
    return 'OK';
  } catch (thrown) {
    return IntersticeError.from(thrown).message;
  }
}

t.test('a body is charged once, with the most that was asked for, until it is released', async (t) => {
  const ledger = new BodyLedger(8 * MiB);
  const account = ledger.open('a');
  account.growTo(3 * MiB);
  account.growTo(2 * MiB);
  t.equal(ledger.bytes, 3 * MiB);
  account.growTo(3.5 * MiB);
  t.equal(ledger.bytes, 3.5 * MiB);
  account.release();
  account.release();
  t.equal(ledger.bytes, 0);
  account.growTo(MiB);
  t.equal(ledger.bytes, 0, 'a late chunk of a body that is given up');
});

t.test('the refusal is retryable and names demand, use and capacity', async (t) => {
  const refused: string[] = [];
  const ledger = new BodyLedger(8 * MiB, (reason) => refused.push(reason));
  for (const client of ['a', 'b']) ledger.open(client).growTo(3 * MiB);
  try {
    ledger.open('c').growTo(2 * MiB);
    t.fail('there is no room');
  } catch (thrown) {
    t.match(thrown, {
      code: 'QUEUE_FULL',
      retryable: true,
      retryAfterSeconds: 1,
      message: /body of 2097152 bytes: 6291456 of 8388608 bytes/,
      hint: /INTERSTICE_MAX_BODY_BYTES/,
    });
  }
  t.equal(ledger.bytes, 6 * MiB, 'nothing was charged');
  t.same(refused, ['capacity']);
});

t.test('a client takes at most half in large bodies, but one body of any size', async (t) => {
  const ledger = new BodyLedger(8 * MiB);
  const first = ledger.open('a');
  t.equal(tryGrow(first, 5 * MiB), 'OK', 'alone');
  t.match(tryGrow(ledger.open('a'), MiB), /this client already holds its share/);
  t.equal(tryGrow(ledger.open('b'), 2 * MiB), 'OK');
  first.release();
  t.equal(tryGrow(ledger.open('b'), 2 * MiB), 'OK');
  t.match(tryGrow(ledger.open('b'), 1), 'OK', 'small bodies are no part of the share');
  t.match(tryGrow(ledger.open('b'), SMALL_BODY_BYTES + 1), /share/);
});

t.test('a body larger than the capacity may come alone, and small ones beside it', async (t) => {
  const ledger = new BodyLedger(MiB);
  const huge = ledger.open('a');
  t.equal(tryGrow(huge, 5 * MiB), 'OK');
  t.match(tryGrow(ledger.open('b'), 2 * SMALL_BODY_BYTES), /capacity|are taken/);
  const small = [ledger.open('b'), ledger.open('c'), ledger.open('a')];
  t.same(
    small.map((account) => tryGrow(account, SMALL_BODY_BYTES)),
    [
      'OK',
      'OK',
      'There is no room for a body of 65536 bytes: 5373952 of 1048576 bytes for the bodies of all requests are taken.',
    ],
  );
  huge.release();
  t.equal(tryGrow(ledger.open('b'), 2 * SMALL_BODY_BYTES), 'OK');
});

t.test('a body that grows is judged with all that it has', async (t) => {
  const ledger = new BodyLedger(MiB);
  const [one, other] = [ledger.open('a'), ledger.open('b')];
  one.growTo(SMALL_BODY_BYTES);
  other.growTo(SMALL_BODY_BYTES);
  t.equal(tryGrow(one, 0.5 * MiB), 'OK', 'the only large one');
  t.equal(tryGrow(other, 0.25 * MiB), 'OK');
  t.match(tryGrow(other, 0.5 * MiB), /are taken/);
  one.release();
  t.equal(tryGrow(other, 0.5 * MiB), 'OK');
});

t.test('without a limit everything is counted and nothing refused', async (t) => {
  const ledger = new BodyLedger(0);
  for (let i = 0; i < 100; i++) ledger.open('a').growTo(1e9);
  t.equal(ledger.bytes, 1e11);
});

t.test('an answer takes the place of its body, and waits for room', async (t) => {
  const ledger = new BodyLedger(8 * MiB, () => {}, 60_000);
  const { signal } = new AbortController();
  const reader = ledger.open('a');
  reader.growTo(MiB);
  await reader.growToAnswer(0.5 * MiB, signal);
  t.equal(ledger.bytes, MiB, 'the larger of the two');
  await reader.growToAnswer(3 * MiB, signal);
  t.equal(ledger.bytes, 3 * MiB);
  const next = ledger.open('a');
  const third = ledger.open('a');
  const order: string[] = [];
  const grown = [
    next.growToAnswer(3 * MiB, signal).then(() => order.push('next')),
    third.growToAnswer(2 * MiB, signal).then(() => order.push('third')),
  ];
  await Promise.resolve();
  t.equal(ledger.bytes, 3 * MiB);
  reader.release();
  await grown[0];
  t.same(order, ['next']);
  t.equal(ledger.bytes, 3 * MiB, 'the room of one is not given to two');
  next.release();
  await grown[1];
  t.equal(ledger.bytes, 2 * MiB);
});

t.test('an answer that finds no room is refused in the end, and one that nobody wants waits no longer', async (t) => {
  const refused: string[] = [];
  const ledger = new BodyLedger(8 * MiB, (reason) => refused.push(reason), 10);
  const { signal } = new AbortController();
  ledger.open('a').growTo(3 * MiB);
  await t.rejects(ledger.open('a').growToAnswer(2 * MiB, signal), {
    code: 'QUEUE_FULL',
    retryable: true,
    message: /an answer of 2097152 bytes/,
    hint: /stored answer/,
  });
  t.same(refused, ['share']);
  const left = new AbortController();
  const waiting = ledger.open('a').growToAnswer(2 * MiB, left.signal);
  left.abort();
  await waiting;
  t.equal(ledger.bytes, 3 * MiB);
});

t.test('in any order of arrivals the bound holds, and all that is released is gone', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const capacity = 4 * MiB;
  const largest = 6 * MiB;
  const ledger = new BodyLedger(capacity);
  const open: { account: BodyAccount; client: string }[] = [];
  for (let round = 0; round < 20_000; round++) {
    const client = `client ${random.int(4)}`;
    if (random() < 0.4) open.push({ account: ledger.open(client), client });
    const chosen = open[random.int(open.length)];
    if (!chosen) continue;
    if (random() < 0.4) {
      chosen.account.release();
      open.splice(open.indexOf(chosen), 1);
    } else tryGrow(chosen.account, Math.floor(largest * random() ** 6));
    const held = open.map(({ account }) => account.bytes);
    const total = held.reduce((sum, bytes) => sum + bytes, 0);
    if (ledger.bytes !== total) return t.fail(`round ${round}: ${ledger.bytes} charged, ${total} held`);
    if (total > Math.max(capacity, largest + capacity / 8)) return t.fail(`round ${round}: ${total} bytes`);
    for (const name of new Set(open.map(({ client }) => client))) {
      const large = open.filter(({ account, client }) => client === name && account.bytes > SMALL_BODY_BYTES);
      const sum = large.reduce((total, { account }) => total + account.bytes, 0);
      if (large.length > 1 && sum > capacity / 2 && sum > largest) return t.fail(`round ${round}: ${name} has ${sum}`);
    }
  }
  for (const { account } of open) account.release();
  t.equal(ledger.bytes, 0);
});

t.test('an answer that waits for room takes none when its own request ends and so makes room', async (t) => {
  const ledger = new BodyLedger(8 * MiB);
  const other = ledger.open('b');
  other.growTo(4 * MiB);
  const leaving = ledger.open('a');
  leaving.growTo(3 * MiB);
  const left = new AbortController();
  const waiting = leaving.growToAnswer(4 * MiB, left.signal);
  // As a connection that closes does: the memory is given back before the signal is aborted.
  leaving.release();
  t.equal(ledger.bytes, 4 * MiB);
  left.abort();
  await waiting;
  t.equal(ledger.bytes, 4 * MiB);
  other.release();
  t.equal(ledger.bytes, 0);
});
