import { spawnSync } from 'node:child_process';
import t from 'tap';
import { openAdapter } from '../../gpu/device/adapter.js';
import { openEngine } from '../../src/jobs/engines.js';
import { stackSwap } from '../solver/cases.js';
import { openCase } from '../support/open-case.js';

// A software driver compiles every kernel when an engine opens, which takes most of half a minute on a busy machine.
t.setTimeout(600_000);

const isRequired = process.env.INTERSTICE_REQUIRE_GPU === '1';
const opening = await openAdapter({ allowSoftware: true });
const adapter = opening.opened?.description;
await opening.opened?.close();
const needsAdapter = adapter || isRequired ? {} : { skip: opening.reason };

const MODULE = new URL('../../src/jobs/engines.js', import.meta.url).href;

/** Opens an engine in a process that finds no Vulkan driver, and returns the outcome. */
const withoutDriver = (options: object) => {
  const program = `
    const { openEngine } = await import('${MODULE}');
    const answer = await openEngine(${JSON.stringify(options)}).then(
      async ({ description, close }) => ({ description, closed: await close() }),
      ({ code, message, hint }) => ({ code, message, hint }),
    );
    console.log(JSON.stringify(answer));`;
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, VK_DRIVER_FILES: '/nonexistent.json', VK_ICD_FILENAMES: '/nonexistent.json' },
    encoding: 'utf8',
  });
  t.equal(run.status, 0, run.stderr);
  return JSON.parse(run.stdout);
};

t.test('engine cpu is the CPU engine and loads no native module', async (t) => {
  const engine = await openEngine({ engine: 'cpu' });
  t.equal(engine.description.name, 'cpu');
  t.notMatch(engine.description.adapter, /auto/);
  await engine.close();
  const program = `
    const { openEngine } = await import('${MODULE}');
    await openEngine({ engine: 'cpu' });
    console.log(process.report.getReport().sharedObjects.filter((path) => path.includes('dawn')).length);`;
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
  t.equal(run.stdout.trim(), '0', run.stderr);
});

t.test('cpu has no adapter to choose', async (t) => {
  await t.rejects(openEngine({ engine: 'cpu', adapter: 'llvm' }), { code: 'INVALID_PARAMETER', message: /adapter/ });
});

t.test('webgpu accepts any adapter, software adapters included', needsAdapter, async (t) => {
  const engine = await openEngine({ engine: 'webgpu', validation: true });
  t.teardown(() => engine.close());
  t.match(engine.description.name, /^webgpu: ./);
  const { mesh, start, target } = stackSwap(4).build();
  const { scene, resolve } = await openCase(engine, mesh, start, target);
  t.equal((await resolve()).status, 'CONVERGED');
  scene.close();
});

t.test('without validation the answers are the same', needsAdapter, async (t) => {
  const { mesh, start, target } = stackSwap(6).build();
  const answers: Float32Array[] = [];
  for (const validation of [true, false]) {
    const engine = await openEngine({ engine: 'webgpu', validation });
    const { scene, resolve } = await openCase(engine, mesh, start, target);
    answers.push((await resolve()).positions);
    scene.close();
    await engine.close();
  }
  t.ok(Buffer.from(answers[0].buffer).equals(Buffer.from(answers[1].buffer)));
});

t.test('the limit on device memory reaches the engine', needsAdapter, async (t) => {
  const engine = await openEngine({ engine: 'webgpu', maxDeviceBytes: 1000 });
  t.teardown(() => engine.close());
  const { mesh, start, target } = stackSwap(2).build();
  await t.rejects(openCase(engine, mesh, start, target), { code: 'OUT_OF_DEVICE_MEMORY', message: / 1000 / });
});

t.test('auto uses a hardware adapter, or says why it did not', needsAdapter, async (t) => {
  const engine = await openEngine({ engine: 'auto' });
  t.teardown(() => engine.close());
  const { name, adapter: text, software } = engine.description;
  if (adapter?.software) {
    t.equal(name, 'cpu');
    t.match(text, /\(auto: the only adapter is software \(.+\), which was not allowed\)/);
  } else {
    t.match(name, /^webgpu: /);
    t.equal(software, false);
  }
});

t.test('an adapter that does not exist is refused', needsAdapter, async (t) => {
  const wishes = { adapter: 'no such adapter' };
  const auto = await openEngine({ engine: 'auto', ...wishes });
  t.teardown(() => auto.close());
  t.equal(auto.description.name, 'cpu');
  t.match(auto.description.adapter, /auto: .*no such adapter/);
  await t.rejects(openEngine({ engine: 'webgpu', ...wishes }), {
    code: 'INVALID_PARAMETER',
    message: /webgpu is requested, but .*no such adapter/,
  });
});

t.test(
  'without a driver the WebGPU engine is refused with the reason',
  { skip: process.platform === 'linux' ? false : 'Metal and Direct3D cannot be hidden' },
  async (t) => {
    t.match(withoutDriver({ engine: 'cpu' }), { description: { name: 'cpu' } });
    t.match(withoutDriver({ engine: 'auto' }), { description: { name: 'cpu', adapter: /auto: no adapter was found/ } });
    const refusal = withoutDriver({ engine: 'webgpu' });
    t.match(refusal, { code: 'INVALID_PARAMETER', message: /webgpu is requested, but no adapter was found.*driver/ });
    t.match(refusal.hint, /auto or cpu/);
  },
);
