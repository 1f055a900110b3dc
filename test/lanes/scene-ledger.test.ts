import t from 'tap';
import { Lane } from '../../src/lanes/lane-pool.js';
import type { LaneWorker } from '../../src/lanes/lane-worker.js';
import { SceneLedger } from '../../src/lanes/scene-ledger.js';

const MEASURES = { medianEdge: 1, typicalEdge: 1, minHeight: 1, bounds: [0, 0, 0, 1, 1, 1], warnings: [] } as const;
const held = (meshVersion: number, stateVersion: number) => ({ meshVersion, stateVersion, measures: MEASURES });
const lanes = () => [new Lane(), new Lane(), new Lane()];

t.test('a scene gets the lane with the fewest scenes, then the first one, and keeps it for its lifetime', async (t) => {
  const ledger = new SceneLedger();
  const all = lanes();
  const settle = (key: number) => ledger.settle(key, 'a', all, 3);
  const homes = [1, 2, 3, 4].map((key) => all.indexOf(settle(key).home!));
  t.same(homes, [0, 1, 2, 0]);
  const second = settle(2);
  t.equal(second.home, all[1], 'its own');
  for (const _ of [1, 2]) ledger.finish(second, held(0, 0));
  t.equal(second.home, all[1], 'held there');
  second.pending++;
  ledger.finish(second, undefined);
  t.equal(second.home, undefined, 'parked');
  t.equal(all.indexOf(settle(5).home!), 1);
  t.equal(all.indexOf(settle(2).home!), 1, 'now all have two but the second and third');
});

t.test('scenes that submit together have one lane until it is full; larger ones are distributed', async (t) => {
  const ledger = new SceneLedger();
  const all = lanes();
  for (const lane of all) lane.worker = { together: { jobs: 3, vertices: 10 } } as LaneWorker;
  let keys = 0;
  const homeOf = (vertices: number) => all.indexOf(ledger.settle(++keys, 'a', all, vertices).home!);
  t.same([11, 11, 11].map(homeOf), [0, 1, 2], 'larger ones');
  t.same([10, 3, 10].map(homeOf), [0, 0, 0], 'what else a lane has does not count');
  t.same([10, 10].map(homeOf), [1, 1]);
  t.equal(homeOf(11), 2, 'the fewest');
  t.equal(ledger.settle(keys, 'a', all, 4).home, all[2], 'its own, though its mesh is another one');
  t.same([10, 10, 10].map(homeOf), [1, 2, 2], 'and now it counts');
});

t.test('only what the thread lacks is sent along', async (t) => {
  const ledger = new SceneLedger();
  const record = ledger.settle(1, 'a', lanes(), 3);
  const state = {
    key: 1,
    meshVersion: 3,
    mesh: { vertexCount: 1, particles: Uint32Array.of(0) },
    stateVersion: 8,
    start: new Float32Array(3),
  };
  const sent = () => {
    const { mesh, start } = ledger.deltaOf(record, state);
    return [mesh === state.mesh, start === state.start];
  };
  t.same(sent(), [true, true]);
  record.held = held(3, 8);
  t.same(sent(), [false, false]);
  record.held = held(3, 9);
  t.same(sent(), [false, true]);
  record.held = held(2, 8);
  t.same(sent(), [true, false]);
});

t.test('a lane that dies loses its scenes; measures remain', async (t) => {
  const ledger = new SceneLedger();
  const all = lanes();
  const records = [1, 2].map((key) => ledger.settle(key, 'a', all, 3));
  for (const record of records) ledger.finish(record, held(0, 0));
  ledger.loseLane(all[0]!);
  t.match(records[0], { held: undefined, isLost: true, measures: MEASURES, home: undefined });
  t.match(records[1], { held: held(0, 0), isLost: false });
});

t.test('the record of a scene that was never built, or is forgotten, lasts no longer than its jobs', async (t) => {
  const ledger = new SceneLedger();
  const all = lanes();
  ledger.cancel(ledger.settle(1, 'a', all, 3));
  t.equal(ledger.size, 0);
  t.ok(all.every(({ scenes }) => scenes === 0));
  const record = ledger.settle(2, 'a', all, 3);
  ledger.settle(2, 'a', all, 3);
  ledger.finish(record, held(0, 0));
  ledger.forget(record);
  t.equal(ledger.size, 1, 'a job is still to come');
  ledger.finish(record, undefined);
  t.equal(ledger.size, 0);
});
