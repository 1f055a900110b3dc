import t from 'tap';
import { drive } from '../../src/load/drive.js';
import { figuresOf } from '../../src/load/run.js';
import type { Sample } from '../../src/load/sample.js';
import { makeSheets } from '../../src/load/sheets.js';

const answer = async (session: number) => ({ session, code: 'OK' });

t.test('every loop makes its requests, one at a time', async (t) => {
  const running = new Set<number>();
  const turns: [number, number][] = [];
  const samples = await drive(
    async (loop, turn) => {
      t.notOk(running.has(loop), 'the one before has been answered');
      running.add(loop);
      turns.push([loop, turn]);
      await Promise.resolve();
      running.delete(loop);
      return answer(loop);
    },
    { loops: 3, seconds: 1, steps: 4 },
  );
  t.equal(samples.length, 12);
  t.same(
    turns.sort(([a, b], [c, d]) => a - c || b - d),
    [0, 1, 2].flatMap((loop) => [0, 1, 2, 3].map((turn) => [loop, turn])),
  );
});

t.test('with a period requests have waited since they were due', async (t) => {
  let release = (): void => {};
  const stalled = new Promise<void>((resolve) => {
    release = resolve;
  });
  // The first answer comes after the third request of the loop was due.
  setTimeout(() => release(), 45);
  const samples = await drive(
    async (loop, turn) => {
      if (loop === 0 && turn === 0) await stalled;
      return answer(loop);
    },
    { loops: 2, period: 20, seconds: 1, steps: 4 },
  );
  const dues = (session: number): number[] => samples.filter((each) => each.session === session).map(({ at }) => at!);
  const spaced = (first: number): number[] => [0, 1, 2, 3].map((turn) => first + 20 * turn);
  for (const [session, first] of [
    [0, 0],
    [1, 10],
  ])
    dues(session).forEach((at, turn) => {
      t.ok(Math.abs(at - spaced(first)[turn]) < 1e-6, `loop ${session}, turn ${turn}: due at ${at}`);
    });
  const ends = samples.filter(({ session }) => session === 0).map(({ at, ms }) => at! + ms);
  t.ok(ends[1] >= ends[0], 'the second request waited for the first, and its latency tells');
  t.ok(
    samples.every(({ ms }) => ms >= 0),
    'none is made before it is due',
  );
});

t.test('an aborted run makes no further request', async (t) => {
  const controller = new AbortController();
  let calls = 0;
  const samples = await drive(
    async (loop) => {
      if (++calls === 3) controller.abort();
      return answer(loop);
    },
    { loops: 1, seconds: 3600, signal: controller.signal },
  );
  t.equal(samples.length, 3);
});

const timings = { queue: 1000, forward: 4000, total: 8000 };
const sample = (at: number, ms: number, code = 'OK'): Sample => ({
  session: 0,
  at,
  ms,
  code,
  ...(code === 'OK' ? { timings, status: 'CONVERGED' } : {}),
});

t.test('figures omit the warm-up and count long answers to their end', async (t) => {
  const samples = [sample(500, 1), sample(1000, 10), sample(2000, 3000), sample(2500, 5, 'QUEUE_FULL')];
  const figures = figuresOf(samples, { warmUp: 1, seconds: 2, rate: 10 });
  t.match(figures, { asked: 3, accepted: 2, refused: { QUEUE_FULL: 1 }, statuses: { CONVERGED: 2 }, max: 3000 });
  t.equal(figures.throughput, 2 / 4, 'the last answer came 4 s after the warm-up');
  t.equal(figures.inTime, 1 / 3, 'a late answer and a refusal are not in time');
  t.notOk('inTime' in figuresOf(samples, { warmUp: 1, seconds: 2, rate: undefined }));
  t.notOk('inTime' in figuresOf([], { warmUp: 1, seconds: 2, rate: 0.1 }), 'nothing fell due');
});

t.test('sheets have about the size asked for, and two targets that differ', async (t) => {
  for (const triangles of [4, 500, 20_000]) {
    const { mesh, start, targets, ...counts } = makeSheets(triangles, 0.05);
    t.equal(mesh.triangles!.length, 3 * counts.triangles);
    t.equal(start.length, 3 * counts.vertices);
    t.ok(Math.abs(counts.triangles / triangles - 1) < 0.15, `${counts.triangles} for ${triangles}`);
    t.ok(Math.max(...mesh.triangles!) === counts.vertices - 1);
    t.ok(targets[0].some((value, i) => value !== targets[1][i]));
    t.ok(
      start.every((value, i) => i % 3 === 2 || value === targets[0][i]),
      'sheets move along z alone',
    );
  }
});
