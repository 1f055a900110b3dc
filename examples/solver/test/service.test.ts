import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { ServerProcess } from '../../../bench/prove/server.js';
import { makeJudge } from '../runner/judge.js';
import { modelOf } from '../runner/play.js';
import { blade } from '../scenes/blade.js';
import { SCENES } from '../scenes/index.js';
import { startOf } from '../src/integrator.js';
import { repair, simulateBlindly } from '../src/repair.js';
import { Service } from '../src/service.js';

const server = await ServerProcess.start({ engine: 'cpu' });
t.teardown(() => server.stop());

const model = modelOf(SCENES.get('cone')!('small'));
const { x } = startOf(model);
/** The cloth lowered by this distance, m. */
const lowered = (by: number): Float64Array =>
  x.map((value, i) => (i % 3 === 2 && !model.isKinematic[Math.floor(i / 3)] ? value - by : value));

t.test('an answer contains its path if that was requested', async (t) => {
  const service = await Service.open(server.grpcAddress, model, x, {});
  try {
    t.equal((await service.step(lowered(0.01), 0.001)).path, undefined);
    const { path, positions } = await service.step(x, 0.001, { path: true });
    t.ok(path!.length >= 2);
    t.same([...path!.at(-1)!], [...positions]);
    t.notSame([...path![0]!], [...positions], 'it begins where the step before has ended');
  } finally {
    await service.close();
  }
});

/** Fewer bytes than an answer has, and more than any other message: 289 positions. */
const LESS_THAN_AN_ANSWER = 1000;

/** Forwards bytes to the service, until it cuts all its connections. */
async function openCutter(t: Test) {
  let [host, port] = server.grpcAddress.split(':');
  const open = new Set<Socket>();
  const cut = (): void => {
    for (const socket of open) socket.destroy();
    open.clear();
  };
  let count = 0;
  let bytesToCut = Number.POSITIVE_INFINITY;
  const proxy = createServer((near) => {
    count++;
    const far = connect(Number(port), host);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket.on('error', () => {}).on('close', () => other.destroy()));
    }
    near.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes) => {
      bytesToCut -= bytes.length;
      if (bytesToCut > 0) near.write(bytes);
      else {
        bytesToCut = Number.POSITIVE_INFINITY;
        cut();
      }
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => {
    cut();
    proxy.close();
  });
  return {
    address: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut,
    /** connections from now on are forwarded to another service */
    redirect: (address: string) => {
      [host, port] = address.split(':');
    },
    /** the next answer is lost, and the connection with it */
    cutAnswer: () => {
      bytesToCut = LESS_THAN_AN_ANSWER;
    },
    count: () => count,
  };
}

t.test('a session continues when its stream is lost, between two steps or before an answer arrives', async (t) => {
  const ways = [0.01, 0.02, 0.03, 0.04];
  const whole = await Service.open(server.grpcAddress, model, x, {});
  const expected: number[][] = [];
  for (const by of ways) expected.push([...(await whole.step(lowered(by), 0.001)).positions]);
  await whole.close();

  const cutter = await openCutter(t);
  const service = await Service.open(cutter.address, model, x, {});
  const given: number[][] = [];
  const step = async (by: number) => void given.push([...(await service.step(lowered(by), 0.001)).positions]);
  await step(ways[0]!);
  cutter.cut();
  await step(ways[1]!);
  cutter.cutAnswer();
  await step(ways[2]!);
  await step(ways[3]!);
  await service.close();
  t.same(given, expected, 'every target was computed once');
  t.equal(cutter.count(), 3, 'two connections were lost');
});

t.test('a session that is gone is created again from its last answer, with the same parameters', async (t) => {
  const other = await ServerProcess.start({ engine: 'cpu' });
  t.teardown(() => other.stop());
  const cutter = await openCutter(t);
  const service = await Service.open(cutter.address, model, x, {});
  const lengths = (of: Service) =>
    Object.fromEntries(
      ['activationDistance', 'reach', 'leap', 'contactOffset'].map((name) => [name, of.parameter(name)]),
    );
  const first = lengths(service);
  // Wider by a twentieth: defaults that are derived from its edges differ.
  const wider = await service.step(
    x.map((value, i) => (model.isKinematic[Math.floor(i / 3)] ? value : 1.05 * value)),
    0.001,
  );
  cutter.redirect(other.grpcAddress);
  cutter.cut();
  const after = [await service.step(lowered(0.2), 0.001), await service.step(lowered(0.3), 0.001)];
  t.same(lengths(service), first);
  await service.close();

  const derived = await Service.open(other.grpcAddress, model, wider.positions, {});
  t.notSame(lengths(derived), first, 'another start has other defaults');
  await derived.close();
  const anew = await Service.open(other.grpcAddress, model, wider.positions, first);
  for (const [k, by] of [0.2, 0.3].entries()) {
    t.same([...after[k]!.positions], [...(await anew.step(lowered(by), 0.001)).positions]);
  }
  await anew.close();
});

/** At most the distance of a float32 from the next one, over its value. The cloth falls less far than twice `away`. */
const FLOAT32_STEP = 2 ** -23;

t.test('a cloth that falls too far away from another one for float32 falls on in float64', async (t) => {
  const drapes = SCENES.get('drapes')!('small');
  const pair = modelOf({ ...drapes, bodies: drapes.bodies.slice(0, 2) });
  const start = startOf(pair).x;
  const fallen = (by: number): Float64Array =>
    start.map((value, i) => (i % 3 === 2 && i < start.length / 2 ? value - by : value));
  const service = await Service.open(server.grpcAddress, pair, start, {});
  const away = 60_000 * service.parameter('activationDistance');
  let positions = start;
  for (const by of [0.1 * away, away, 1.1 * away]) ({ positions } = await service.step(fallen(by), 0.001));
  await service.close();
  const to = fallen(1.1 * away);
  t.ok(
    positions.some((value) => Math.fround(value) !== value),
    'the last answer is in float64',
  );
  t.ok(
    positions.every((value, i) => Math.abs(value - to[i]!) <= 2 * FLOAT32_STEP * away),
    'and at its target',
  );
});

t.test('a target that is refused is not sent again, and the session goes on', async (t) => {
  const cutter = await openCutter(t);
  const service = await Service.open(cutter.address, model, x, {});
  await t.rejects(service.step(new Float64Array(3), 0.001), /^SIZE_MISMATCH: /);
  t.equal((await service.step(lowered(0.01), 0.001)).report.status, 'CONVERGED');
  await service.close();
  t.equal(cutter.count(), 1);
});

t.test('a frame that fell through everything is repaired from the last good one', async (t) => {
  const scene = blade('small');
  const model = modelOf(scene);
  const judge = makeJudge(model);
  const good = startOf(model);
  const penetrated = await simulateBlindly(model, good, scene.timeStep, 5);
  t.equal(judge(good.x), 0);
  t.ok(judge(penetrated) > 50, `the patches are pierced ${judge(penetrated)} times`);
  const { positions, report } = await repair(server.grpcAddress, model, good.x, penetrated, scene.parameters ?? {});
  t.equal(judge(positions), 0);
  t.ok(report.steps >= 1);
  const heights = (x: Float64Array): number[] =>
    [...x].filter((_, i) => i % 3 === 2 && !model.isKinematic[(i - 2) / 3]);
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  t.ok(mean(heights(positions)) < mean(heights(good.x)) - 0.05, 'it is well on the way');
});
