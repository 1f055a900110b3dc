import { setTimeout as sleep } from 'node:timers/promises';
import '../closed-pipe.js';
import { SCENES } from '../../examples/scenes/index.js';
import { readConfig } from '../../src/config/config.js';
import { createOperations } from '../../src/session/operations.js';
import { RedisStore } from '../../src/store/redis-store.js';
import { readCount, readFlags, readNumber, readWord } from '../command-line.js';
import { FSYNC_WORDS, Redis } from './redis.js';

const HELP = `npm run cluster:cost -- [options]

What a store adds to a step. Two sessions with the same history take turns, one in memory only and one in a Redis on this machine; of
each step the pair of times counts, so that what else the machine does falls on both.

  --vertices N     of the mesh (default 70000)
  --steps N        at least 5, because the first four do not count (default 24)
  --fsync WHEN     everysec (default) or always: when Redis writes its log to disk
`;

const values = readFlags(HELP, {
  options: {
    vertices: { type: 'string', default: '70000' },
    steps: { type: 'string', default: '24' },
    fsync: { type: 'string', default: 'everysec' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}

/** The first steps warm up both sessions. */
const WARM_UP = 4;
const steps = readCount(HELP, '--steps', values.steps, WARM_UP + 1);
const { vertexCount, triangles, start, target } = SCENES.layers!(readNumber(HELP, '--vertices', values.vertices));
const from = Float32Array.from(start);
const towards = (share: number) => from.map((x, i) => x + share * (target[i]! - x));
const opening = { mesh: { vertexCount, triangles }, start: from, parameters: {} };

const fsync = readWord(HELP, '--fsync', values.fsync, FSYNC_WORDS);

const redis = await Redis.start(['--appendonly', 'yes', '--appendfsync', fsync]);
const store = await RedisStore.open(redis.options('cost'));
const calls = new Map<string, number[]>();
store.watch((event) => {
  if (event.type === 'call') calls.set(event.name, [...(calls.get(event.name) ?? []), event.seconds * 1000]);
});
const options = { engine: 'cpu', threads: 1, limits: readConfig({}).limits, allowUnverified: false } as const;
const plain = await createOperations(options);
const kept = await createOperations({ ...options, store: { sessions: store, onFailure: 'refuse' } });

const ids = [(await plain.createSession(opening)).id, (await kept.createSession(opening)).id] as const;
const times: [number, number][] = [];
const work: [number, number][] = [];
for (let frame = 1; frame <= steps; frame++) {
  const goal = towards(0.02 * frame);
  const pair: [number, number] = [0, 0];
  const cpu: [number, number] = [0, 0];
  // The order alternates, so that neither always comes first.
  for (const k of frame % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
    const startedAt = performance.now();
    const before = process.cpuUsage();
    await [plain, kept][k]!.step({ sessionId: ids[k], frame: BigInt(frame), target: goal });
    pair[k] = performance.now() - startedAt;
    // Work after an answer, such as an occasional copy of the scene, is part of the step, too.
    await sleep(200);
    const { user, system } = process.cpuUsage(before);
    cpu[k] = (user + system) / 1000;
  }
  times.push(pair);
  work.push(cpu);
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0;
const show = (ms: number): string => `${ms.toFixed(1)} ms`;
const counted = times.slice(WARM_UP);
const say = (what: string, pairs: readonly (readonly [number, number])[]) => {
  const [a, b] = [0, 1].map((k) => median(pairs.map((pair) => pair[k]!))) as [number, number];
  const [sumA, sumB] = [0, 1].map((k) => pairs.reduce((sum, pair) => sum + pair[k]!, 0)) as [number, number];
  const ratio = median(pairs.map(([memory, stored]) => stored / memory));
  const sums = `of the sums ${(sumB / sumA).toFixed(3)}`;
  process.stdout.write(
    `  ${what}: in memory ${show(a)}, with the store ${show(b)} (medians); ratio ${ratio.toFixed(3)} (median), ${sums}\n`,
  );
};
process.stdout.write(`${vertexCount} vertices, ${counted.length} steps\n`);
say('time to the answer', counted);
say('processor time, with what follows the answer', work.slice(WARM_UP));
for (const [name, ms] of calls) process.stdout.write(`  ${name}: ${ms.length} calls, median ${show(median(ms))}\n`);
await plain.close();
await kept.close();
await redis.stop();
