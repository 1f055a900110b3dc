import t from 'tap';
import { MAX_PAUSE_MS, ThreadPause } from '../../../gpu/device/thread-pause.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A pause that takes no time and records the requested durations. */
function makeRest() {
  const pauses: number[] = [];
  const clock = { now: 0 };
  const rest = new ThreadPause(
    (milliseconds) => pauses.push(milliseconds),
    () => clock.now,
  );
  return { rest, pauses, clock };
}

t.test('The thread pauses on turns of the event loop while work is awaited, and on no others.', async (t) => {
  const { rest, pauses } = makeRest();
  await turn();
  t.equal(pauses.length, 0);
  let finish = (_value: string): void => {};
  const waiting = rest.during(new Promise<string>((resolve) => (finish = resolve)));
  for (let n = 0; n < 5; n++) await turn();
  t.ok(pauses.length >= 4, `${pauses.length} rests in five turns`);
  finish('done');
  t.equal(await waiting, 'done');
  const rests = pauses.length;
  for (let n = 0; n < 3; n++) await turn();
  t.equal(pauses.length, rests);
});

t.test('A pause is a share of the time waited, up to the maximum.', async (t) => {
  const { rest, pauses, clock } = makeRest();
  clock.now = 1000;
  void rest.during(new Promise(() => {}));
  await turn();
  clock.now = 1000 + MAX_PAUSE_MS;
  await turn();
  clock.now = 1e6;
  await turn();
  await turn();
  t.equal(pauses[0], 0);
  t.ok(pauses.some((pause) => pause > 0 && pause < MAX_PAUSE_MS / 2));
  t.equal(pauses.at(-1), MAX_PAUSE_MS);
});

t.test('Failed work throws and ends its pauses; other awaited work keeps them.', async (t) => {
  const { rest, pauses } = makeRest();
  void rest.during(new Promise(() => {}));
  await t.rejects(rest.during(Promise.reject(new Error('planned'))), /planned/);
  const before = pauses.length;
  for (let n = 0; n < 3; n++) await turn();
  t.ok(pauses.length > before);
});

t.test('A thread sleeps for the requested time.', async (t) => {
  const rest = new ThreadPause();
  t.equal(await rest.during(turn().then(() => 7)), 7);
});
