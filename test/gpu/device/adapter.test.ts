import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { listAdapters, openAdapter } from '../../../gpu/device/adapter.js';

const isRequired = process.env.INTERSTICE_REQUIRE_GPU === '1';
const opening = await openAdapter({ allowSoftware: true });
const { opened } = opening;
/** With INTERSTICE_REQUIRE_GPU=1 no test is skipped: the first one fails with the reason. */
const needsAdapter = opened || isRequired ? {} : { skip: opening.reason };
t.teardown(() => opened?.close());

t.test('An adapter is found if one is required.', needsAdapter, async (t) => {
  t.ok(opened, opening.reason ?? 'opened');
  if (!opened) return;
  t.match(opened.description.name, /^webgpu: ./);
  t.type(opened.description.software, 'boolean');
  t.ok(opened.description.maxBufferBytes >= 128 * 1024 * 1024, 'the standard guarantees 128 MiB a binding');
});

if (opened) {
  t.test('The device gets all the storage that the adapter allows.', async (t) => {
    const { device } = await opened.requestDevice();
    t.equal(device.limits.maxStorageBufferBindingSize, opened.adapter.limits.maxStorageBufferBindingSize);
    t.equal(device.limits.maxBufferSize, opened.adapter.limits.maxBufferSize);
    t.ok(device.limits.maxStorageBuffersPerShaderStage >= 8);
  });

  t.test('A device has subgroups if requested and offered by the adapter.', async (t) => {
    for (const subgroups of [true, false]) {
      const again = await openAdapter({ allowSoftware: true, subgroups });
      t.teardown(() => again.opened?.close());
      const device = (await again.opened?.requestDevice())?.device;
      t.equal(device?.features.has('subgroups'), subgroups && opened.adapter.features.has('subgroups'));
    }
  });

  t.test('Closing destroys the devices and reports it.', async (t) => {
    const second = (await openAdapter({ allowSoftware: true })).opened;
    if (!second) throw new Error('the adapter opened once but not twice');
    const { lost } = await second.requestDevice();
    second.close();
    t.equal((await lost).reason, 'destroyed');
    await t.rejects(second.requestDevice(), /closed/);
  });

  t.test('A software adapter is refused if it is not allowed.', async (t) => {
    const strict = await openAdapter({ allowSoftware: false });
    t.teardown(() => strict.opened?.close());
    if (opened.description.software) t.match(strict.reason, /software/);
    else t.ok(strict.opened);
  });

  t.test('An unknown name matches no adapter, and the reason repeats it.', async (t) => {
    const none = await openAdapter({ allowSoftware: true, name: 'no such adapter' });
    t.teardown(() => none.opened?.close());
    t.equal(none.opened, undefined);
    t.match(none.reason, /no such adapter/);
  });

  t.test('The installed binding lists its adapters in the expected wording.', async (t) => {
    const names = await listAdapters();
    const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    const { device, description } = opened.adapter.info;
    t.ok(
      names?.some((name) => plain(`${device} ${description}`).includes(plain(name).replace(/-+$/, ''))),
      `${names?.join()} has ${device}`,
    );
  });

  t.test('If the binding lists its adapters in another wording, its preferred one is used if it fits.', async (t) => {
    const unlisted = async (): Promise<undefined> => undefined;
    const name = opened.adapter.info.device || opened.adapter.info.description;
    for (const wish of [undefined, name.split(/[^A-Za-z]+/)[0]]) {
      const any = await openAdapter({ allowSoftware: true, name: wish }, unlisted);
      t.teardown(() => any.opened?.close());
      t.ok(any.opened, any.reason ?? 'opened');
      const { device } = await any.opened!.requestDevice();
      t.equal(device.lost instanceof Promise, true, 'it can be used');
    }
    const other = await openAdapter({ allowSoftware: true, name: 'no such adapter' }, unlisted);
    t.match(other, { opened: undefined, reason: /does not list its adapters.* "no such adapter"/ });
  });

  t.test('A name is matched by its words, in any case and order.', async (t) => {
    const name = opened.adapter.info.device || opened.adapter.info.description;
    const words = name.split(/[^A-Za-z]+/).filter((word) => word.length > 2);
    const again = await openAdapter({ allowSoftware: true, name: words.reverse().join(' ').toUpperCase() });
    t.teardown(() => again.opened?.close());
    t.equal(again.opened?.description.name, opened.description.name, again.reason ?? words.join());
  });

  t.test('A process that used a device and closed it ends by itself.', async (t) => {
    const adapter = new URL('../../../gpu/device/adapter.js', import.meta.url).href;
    const proof = new URL('../../../gpu/proof/heights-proof.js', import.meta.url).href;
    const program = `
      const { openAdapter } = await import('${adapter}');
      const { proveHeights } = await import('${proof}');
      const { opened } = await openAdapter({ allowSoftware: true });
      const { device } = await opened.requestDevice();
      const { ok } = await proveHeights(device);
      opened.close();
      console.log(ok ? 'proved' : 'failed');`;
    const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program]);
    t.equal(run.signal, null, 'not ended by the time limit');
    t.equal(run.status, 0, run.stderr.toString());
    t.match(run.stdout.toString(), 'proved');
  });
}

t.test('Without any driver there is a reason and no exception.', async (t) => {
  const adapter = new URL('../../../gpu/device/adapter.js', import.meta.url).href;
  const program = `
    const { openAdapter } = await import('${adapter}');
    const opening = await openAdapter({ allowSoftware: true });
    console.log(JSON.stringify({ found: opening.opened !== undefined, reason: opening.reason }));`;
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, VK_DRIVER_FILES: '/nonexistent.json', VK_ICD_FILENAMES: '/nonexistent.json' },
  });
  t.equal(run.status, 0, run.stderr.toString());
  const answer: unknown = JSON.parse(run.stdout.toString());
  // These variables only hide Vulkan drivers: Metal and Direct3D stay visible elsewhere.
  if (process.platform === 'linux') t.match(answer, { found: false, reason: /driver/ });
  else t.type(answer, 'object');
});

/** Mesa's software driver, of which two copies are two adapters that nothing but their driver's file tells apart. */
const LAVAPIPE = '/usr/lib/x86_64-linux-gnu/libvulkan_lvp.so';

t.test(
  'Equal adapters are counted, and each is the only one of a process that sees only its driver.',
  { skip: existsSync(LAVAPIPE) ? false : "Mesa's software driver is not where Debian puts it" },
  async (t) => {
    const folder = t.testdir();
    const manifests = ['first', 'second'].map((name) => {
      const library = join(folder, `libvulkan_${name}.so`);
      copyFileSync(LAVAPIPE, library);
      const manifest = join(folder, `${name}.json`);
      const icd = { library_path: library, api_version: '1.3.0' };
      writeFileSync(manifest, JSON.stringify({ file_format_version: '1.0.1', ICD: icd }));
      return manifest;
    });
    const adapter = new URL('../../../gpu/device/adapter.js', import.meta.url).href;
    const program = `
      const { openAdapter } = await import('${adapter}');
      const { opened, reason } = await openAdapter({ allowSoftware: true, name: 'LLVMPIPE' });
      console.log(opened?.description.adapter ?? reason);
      await opened?.close();`;
    const adapterOf = (drivers: string): string => {
      const env = { ...process.env, VK_DRIVER_FILES: drivers, VK_ICD_FILENAMES: drivers };
      const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { env });
      return run.stdout.toString();
    };
    t.match(adapterOf(manifests.join(':')), /llvmpipe.*, the first of 2 equal adapters/i);
    for (const manifest of manifests) {
      const alone = adapterOf(manifest);
      t.match(alone, /llvmpipe/i);
      t.notMatch(alone, /equal/);
    }
  },
);
