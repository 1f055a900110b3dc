import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ServerProcess } from '../../bench/prove/server.js';
import { algorithmVersion } from '../../src/paths.js';
import { costsOfEngine, readCosts } from '../../src/plan/costs.js';
import { run } from './in-process.js';

t.test('load is put on a service through each door, and nothing is left behind', async (t) => {
  const server = await ServerProcess.start({
    engine: 'cpu',
    environment: { INTERSTICE_THREADS: '1', INTERSTICE_MAX_SESSIONS: '3' },
  });
  t.teardown(() => server.stop());
  const place = ['--server', server.address, '--grpc', `http://${server.grpcAddress}`];
  const small = ['--triangles', '30', '--duration', '0.5', '--warm-up', '0'];
  for (const door of ['http', 'grpc', 'stream']) {
    const { status, stdout, stderr } = await run([
      'load',
      ...place,
      ...small,
      '--door',
      door,
      '--sessions',
      '1,2',
      '--json',
    ]);
    t.equal(status, 0, stderr);
    const { results } = JSON.parse(stdout);
    t.same(
      results.map(({ sessions }: { sessions: number }) => sessions),
      [1, 2],
    );
    for (const { figures } of results) {
      t.ok(figures.accepted > 0 && figures.accepted === figures.asked, `${door}: ${figures.accepted} accepted`);
      const statuses = Object.entries(figures.statuses as Record<string, number>);
      t.ok(
        statuses.every(([name]) => /^[A-Z_]+$/.test(name)),
        `${door}: ${statuses.join()}`,
      );
      t.ok(figures.split.compute > 0 && figures.split.verify > 0, `${door}: the parts are known`);
    }
  }
  const table = await run(['load', ...place, ...small, '--rate', '5', '--sessions', '2']);
  t.match(table.stdout, /in time %/);
  const sessions = async (): Promise<unknown> =>
    ((await (await fetch(`${server.address}/v1/sessions`)).json()) as { sessions: unknown }).sessions;
  t.same(await sessions(), [], 'every session is deleted');
  const refused = await run(['load', ...place, ...small, '--sessions', '8']);
  t.equal(refused.status, 3);
  t.match(refused.stderr, /QUOTA_EXCEEDED|TOO_MANY|refused a session/);
  t.same(await sessions(), [], 'of a load that is refused too');
  const later = await run(['load', ...place, ...small, '--sessions', '1,8']);
  t.equal(later.status, 3);
  t.match(later.stdout, /1 session, ended as/, 'what was measured before a refusal is printed');
  t.match(later.stderr, /refused a session/);
  const written = JSON.parse((await run(['load', ...place, ...small, '--sessions', '1,8', '--json'])).stdout);
  t.match(written, { results: [{ sessions: 1 }], problem: { status: 429 } });
  t.equal(written.results.length, 1);

  const folder = t.testdir();
  const [start, target] = ['start.obj', 'target.obj'].map((name) => join(folder, name));
  writeFileSync(start!, 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n');
  writeFileSync(target!, 'v 0 0 1\nv 1 0 1\nv 0 1 1\n');
  const own = await run(['load', ...place, ...small.slice(2), '--mesh', start!, '--target', target!, '--json']);
  t.match(JSON.parse(own.stdout), { vertices: 3, triangles: 1 });
});

t.test('a load is bounded, and says what it needs', async (t) => {
  const server = ['--server', 'http://127.0.0.1:1'];
  for (const [flags, words] of [
    [['--sessions', '20000'], '--sessions must be at most 10,000'],
    [['--duration', '1e9'], '--duration must be at most'],
    [['--sessions', '0'], '--sessions must be at least 1'],
    [['--rate', '0'], '--rate must be greater than 0'],
    [['--triangles', '3'], '--triangles must be at least 4'],
    [['--warm-up', '-1'], '--warm-up must be 0 or greater'],
    [['--deadline', '0'], '--deadline must be greater than 0'],
    [['--mesh', 'a.obj'], '--mesh and --target'],
    [['--grpc', '127.0.0.1:50051'], '--grpc needs a URL'],
    [['--sessions', 'many'], 'Whole numbers'],
  ] as const) {
    const { status, stderr } = await run(['load', ...server, ...flags]);
    t.equal(status, 2, words);
    t.ok(stderr.includes(words), stderr);
  }
  const nobody = await run(['load', ...server, '--triangles', '30']);
  t.equal(nobody.status, 5);
  t.match(nobody.stderr, /UNREACHABLE/);
  const grpc = ['--door', 'grpc', '--grpc', 'http://127.0.0.1:1'];
  const nobodyOnGrpc = await run(['load', ...server, '--triangles', '30', ...grpc]);
  t.equal(nobodyOnGrpc.status, 5);
  t.match(
    nobodyOnGrpc.stderr,
    /127\.0\.0\.1:1 does not answer: connect ECONNREFUSED 127\.0\.0\.1:1\.\n +hint +.* --grpc URL/,
  );
});

t.test('costs are measured here, and a plan follows from them', async (t) => {
  const file = join(t.testdir(), 'costs.json');
  const { status, stdout, stderr } = await run([
    ...['plan', '--measure', file, '--sizes', '20,60', '--duration', '0.2', '--lanes', '1'],
    ...['--sessions', '3', '--triangles', '40', '--rate', '0.5', '--json'],
  ]);
  t.equal(status, 0, stderr);
  const costs = readCosts(file);
  t.same(costs.sizes.map(({ triangles }) => triangles).length, 2);
  t.ok(costs.sizes.every(({ workBytes, processorMs }) => workBytes >= 0 && processorMs > 0));
  t.match(JSON.parse(readFileSync(file, 'utf8')), { engine: 'cpu', lanes: 1, quality: 'BALANCED' });
  t.ok(JSON.parse(stdout).plan.processes >= 1);
});

t.test('a plan is printed, or why there is none', async (t) => {
  const found = await run(['plan', '--sessions', '4', '--triangles', '2000', '--rate', '0.2']);
  t.equal(found.status, 0, found.stderr);
  t.match(found.stdout, /processes +\d/);
  const none = await run(['plan', '--sessions', '500', '--triangles', '50000', '--rate', '30']);
  t.equal(none.status, 1);
  t.match(none.stdout, /possible +no.*\n +at most 0\.\d+ steps\/s\n/, 'the highest rate that a session can have');
  const crowded = await run(['plan', '--sessions', '1000000', '--triangles', '5000', '--rate', '2']);
  t.equal(crowded.status, 1);
  t.match(crowded.stdout, /possible +not if sessions are assigned to processes at random/);
  t.match(crowded.stdout, /spread evenly +\d+,000 processes would be enough, with at most \d sessions each\n/);
  const onDevice = await run([
    ...['plan', '--engine', 'webgpu', '--sessions', '4', '--triangles', '2000', '--rate', '0.01'],
  ]);
  t.equal(onDevice.status, 0, onDevice.stderr);
  t.match(onDevice.stdout, /cores +2, 2 each/);
  t.match(onDevice.stdout, /GiB of it would be on a card/);
  t.match(onDevice.stdout, /beware +these costs come from the processor, not from a graphics card/);
  const file = join(t.testdir(), 'card.json');
  writeFileSync(
    file,
    JSON.stringify({ ...costsOfEngine('webgpu'), isSoftware: false, adapter: 'A card', loadBefore: 2 }),
  );
  const onCard = await run([...['plan', '--costs', file, '--sessions', '4', '--triangles', '2000', '--rate', '0.01']]);
  t.match(onCard.stdout, /graphics cards +1, one each/);
  t.match(onCard.stdout, /GiB on each card/);
  t.match(onCard.stdout, /costs of .* on A card/);
  t.match(onCard.stdout, /beware +other work ran while this was measured/);
  for (const flags of [
    ['--sessions', '3'],
    [],
    ...[
      ['--sizes', '8,4'],
      ['--sizes', '4,1000000000'],
      ['--motion', '0'],
      ['--duration', '1e9'],
      ['--measure', '/no/such/folder/costs.json'],
      ['--measure', t.testdirName],
    ].map((wrong) => ['--sessions', '1', '--triangles', '9', '--rate', '1', ...wrong]),
    ...[
      ['--costs', 'nowhere.json'],
      ['--costs', 'cpu-2-cores', '--engine', 'webgpu'],
      ['--engine', 'auto'],
    ].map((wrong) => ['--sessions', '1', '--triangles', '9', '--rate', '1', ...wrong]),
  ]) {
    t.equal((await run(['plan', ...flags])).status, 2, flags.join(' '));
  }
  const widened = await run([
    ...['plan', '--costs', file, '--lanes', '8', '--sessions', '4', '--triangles', '2000', '--rate', '0.01'],
  ]);
  t.equal(widened.status, 2);
  t.match(widened.stderr, /the lanes that were measured, 2 here/);
});

t.test('an option that would have no effect is refused', async (t) => {
  const demand = ['plan', '--sessions', '1', '--triangles', '9', '--rate', '1'];
  for (const [flag, value] of [
    ['--quality', 'fast'],
    ['--motion', '5'],
    ['--sizes', '20,60'],
    ['--duration', '10'],
  ] as const)
    t.match(await run([...demand, flag, value]), { status: 2, stderr: `${flag} needs --measure` });
  const measure = ['plan', '--measure', join(t.testdir(), 'costs.json')];
  t.match(await run([...measure, '--costs', 'cpu-2-cores']), { status: 2, stderr: '--costs is for a plan' });
  t.match(await run([...measure, '--within', '1']), { status: 2, stderr: '--within is for a plan' });
  const load = ['load', '--server', 'http://127.0.0.1:9', '--mesh', 'a.obj', '--target', 'b.obj'];
  for (const flag of ['--triangles', '--motion'])
    t.match(await run([...load, flag, '20']), { status: 2, stderr: `${flag} is for the sheets of cloth` });
});

t.test('the first examples of the help have a plan', async (t) => {
  for (const page of [['--help'], ['plan', '--help']]) {
    const [, words = ''] = /^ +interstice (plan --sessions .*)$/m.exec((await run(page)).stdout) ?? [];
    const { status, stdout } = await run(words.split(' '));
    t.equal(status, 0, `${words}\n${stdout}`);
  }
});

t.test('a plan says by which version of the algorithm its costs were measured', async (t) => {
  const demand = ['--sessions', '4', '--triangles', '2000', '--rate', '0.01'];
  const folder = t.testdir();
  const planned = async (algorithm: string) => {
    const file = join(folder, `${algorithm}.json`);
    writeFileSync(file, JSON.stringify({ ...costsOfEngine('cpu'), algorithmVersion: algorithm }));
    const { stdout } = await run(['plan', '--costs', file, ...demand]);
    const json = JSON.parse((await run(['plan', '--costs', file, ...demand, '--json'])).stdout);
    t.equal(json.costs.algorithmVersion, algorithm);
    return stdout;
  };
  t.notMatch(await planned(algorithmVersion), /this program has version/);
  const older = await planned('of-another-year');
  t.match(older, /version of-another-year of the algorithm/);
  t.match(older, new RegExp(`beware +this program has version ${algorithmVersion} of the algorithm`));
});
