import { dirname } from 'node:path';
import t from 'tap';
import { parseAdapterWish } from '../../../gpu/device/adapter-wish.js';
import {
  describeCardWithoutDriver,
  describeMissingDriver,
  type Host,
  planVulkan,
} from '../../../gpu/device/vulkan-host.js';

/** A machine with these files, whose folders can be written unless they are named. */
const machine = (
  files: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = { HOME: '/home/me' },
  readOnly: (folder: string) => boolean = () => false,
): Host => ({
  platform: 'linux',
  // A width that a user has set, so that plans contain nothing but what a test is about.
  environment: { LP_NATIVE_VECTOR_WIDTH: '256', ...environment },
  exists: (path) => path in files,
  list: (folder) => {
    const names = Object.keys(files).flatMap((path) =>
      path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1).split('/')[0]!] : [],
    );
    return [...new Set(names)];
  },
  read: (path) => files[path],
  target: (path) => /^-> (.*)/.exec(files[path] ?? '')?.[1] ?? path,
  canWrite: (folder) => !readOnly(folder),
  isOwn: () => true,
});

const LOADER = { '/usr/lib/x86_64-linux-gnu/libvulkan.so.1': '' };
const CARD = { '/dev/nvidia0': '', '/dev/nvidiactl': '' };
const EGL = '/usr/lib/x86_64-linux-gnu/libEGL_nvidia.so.0';
const GLX = '/usr/lib/x86_64-linux-gnu/libGLX_nvidia.so.0';
const X11 = { '/usr/lib/x86_64-linux-gnu/libX11.so.6': '', '/usr/lib/x86_64-linux-gnu/libXext.so.6': '' };
const icd = (library: string) => JSON.stringify({ ICD: { library_path: library } });

t.test('The driver of a card without a display is found through its library for EGL.', async (t) => {
  const { variables, manifest } = planVulkan({}, machine({ ...CARD, [EGL]: '', [GLX]: '' }));
  t.equal(variables.VK_ADD_DRIVER_FILES, manifest?.path);
  t.match(manifest?.text, EGL);
  const elsewhere = planVulkan({}, machine({ ...CARD, '/usr/local/nvidia/lib64/libEGL_nvidia.so.0': '' }));
  t.match(elsewhere.manifest?.text, '/usr/local/nvidia/lib64/');
  const named = machine({ '/opt/here/libEGL_nvidia.so.0': '' }, { HOME: '/', LD_LIBRARY_PATH: '/opt/here' });
  t.match(planVulkan({}, named).manifest?.text, '/opt/here/');
});

t.test('A manifest that the loader finds is not replaced if its library can be loaded.', async (t) => {
  const manifest = { '/usr/share/vulkan/icd.d/nvidia_icd.json': icd('libGLX_nvidia.so.0') };
  t.same(planVulkan({}, machine({ ...manifest, [GLX]: '', ...X11 })).variables, {});
  const withoutX11 = planVulkan({}, machine({ ...manifest, [GLX]: '', [EGL]: '' }));
  t.match(withoutX11.manifest?.text, EGL, 'without the libraries of X11 that of EGL is taken');
  const missing = planVulkan({}, machine({ ...manifest, [EGL]: '' }));
  t.match(missing.manifest?.text, EGL, 'a manifest whose library is missing counts for nothing');
});

t.test('A manifest outside the folders of the loader is named to it.', async (t) => {
  const path = '/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json';
  const { variables, manifest } = planVulkan({}, machine({ [path]: icd(EGL), [EGL]: '' }));
  t.equal(variables.VK_ADD_DRIVER_FILES, path);
  t.equal(manifest, undefined);
});

t.test('A loader that cannot add a driver to those that it finds is given all of them.', async (t) => {
  const path = '/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json';
  const others = {
    '/usr/share/vulkan/icd.d/lvp_icd.x86_64.json': icd('/usr/lib/libvulkan_lvp.so'),
    '/etc/xdg/vulkan/icd.d/other.json': icd('/usr/lib/other.so'),
    '/usr/share/vulkan/icd.d/README': '',
  };
  const withLoader = (version: string) => {
    const [link] = Object.keys(LOADER);
    const files = { [path]: icd(EGL), [EGL]: '', ...others, [link!]: `-> ${link!.slice(0, -1)}${version}` };
    return planVulkan({}, machine(files)).variables;
  };
  for (const old of ['1.3.204', '1.2.999', '1.3.9']) {
    const { VK_ICD_FILENAMES: named = '', ...rest } = withLoader(old);
    t.same(rest, {}, old);
    t.equal(named.split(':')[0], path, 'the card comes first');
    const found = ['/etc/xdg/vulkan/icd.d/other.json', '/usr/share/vulkan/icd.d/lvp_icd.x86_64.json'];
    t.same(named.split(':').slice(1).sort(), found, 'what the loader finds by itself stays');
  }
  for (const able of ['1.3.207', '1.3.239', '1.4.1', '2.0.0', '1']) {
    t.same(withLoader(able), { VK_ADD_DRIVER_FILES: path }, able);
  }
  const named = machine({ [Object.keys(LOADER)[0]!]: '-> /usr/lib/x86_64-linux-gnu/libvulkan.so.1.3.204' });
  t.match(describeMissingDriver(named), /libvulkan\.so\.1\.3\.204/);
});

t.test('Drivers that the user has named remain.', async (t) => {
  for (const name of ['VK_DRIVER_FILES', 'VK_ICD_FILENAMES', 'VK_ADD_DRIVER_FILES']) {
    t.same(planVulkan({}, machine({ [EGL]: '' }, { HOME: '/home/me', [name]: '/mine.json' })).variables, {}, name);
  }
});

t.test('Without a driver the message says what to install.', async (t) => {
  t.match(describeMissingDriver(machine({})), /libvulkan\.so\.1.*install libvulkan1/);
  t.match(describeMissingDriver(machine(LOADER)), /No graphics card is visible.*install-software-vulkan/);
  t.match(describeMissingDriver(machine({ ...LOADER, ...CARD })), /nvidia0.*nvidia-vulkan-icd.*libnvidia-gl.*graphics/);
  t.match(describeCardWithoutDriver(machine({ ...CARD, [GLX]: '' })), /libGLX_nvidia.*libegl1.*libx11-6/);
  t.match(describeCardWithoutDriver(machine({ [EGL]: '' })), /no card.*--gpus all/);
  const amd = machine({ '/dev/dri/renderD128': '', '/sys/class/drm/renderD128/device/vendor': '0x1002\n' });
  t.match(describeCardWithoutDriver(amd), /AMD.*mesa-vulkan-drivers.*group render/);
  t.equal(describeCardWithoutDriver(machine({})), undefined);
});

t.test('Compiled kernels have a folder, even if the root is read-only.', async (t) => {
  const given = planVulkan({ shaderCache: '/var/cache/kernels' }, machine({})).variables;
  t.equal(given.MESA_SHADER_CACHE_DIR, '/var/cache/kernels');
  t.equal(given.__GL_SHADER_DISK_CACHE_PATH, '/var/cache/kernels');
  t.same(planVulkan({}, machine({})).variables, {}, 'drivers know the cache of the user by themselves');
  const readOnly = machine({}, { HOME: '/home/node', TMPDIR: '/tmp' }, (folder) => !folder.startsWith('/tmp/'));
  t.equal(dirname(planVulkan({}, readOnly).variables.MESA_SHADER_CACHE_DIR!), '/tmp');
  const nowhere = machine({}, { HOME: '/home/node' }, () => true);
  t.same(planVulkan({}, nowhere).variables, {}, 'a service without any folder runs, and compiles at every start');
  t.throws(() => planVulkan({ shaderCache: '/var/cache/kernels' }, nowhere), { code: 'INVALID_PARAMETER' });
  const own = machine({}, { HOME: '/home/me', MESA_SHADER_CACHE_DIR: '/mine' });
  t.equal(planVulkan({ shaderCache: '/k' }, own).variables.MESA_SHADER_CACHE_DIR, undefined, 'what is set stays');
});

t.test('The software driver compiles for vectors of four lanes, unless the user has set another width.', async (t) => {
  t.same(planVulkan({}, { ...machine({}), environment: { HOME: '/home/me' } }).variables, {
    LP_NATIVE_VECTOR_WIDTH: '128',
  });
  t.same(planVulkan({}, machine({})).variables, {}, 'what is set stays');
});

t.test('A card is selected by its address, if there is such a card and a layer that can select it.', async (t) => {
  const layer = { '/usr/share/vulkan/implicit_layer.d/VkLayer_MESA_device_select.json': '' };
  const cards = {
    '/sys/bus/pci/devices/0000:41:00.0/class': '0x030200\n',
    '/sys/bus/pci/devices/0000:c1:00.0/class': '0x030200\n',
    '/sys/bus/pci/devices/0000:02:00.0/class': '0x020000\n',
  };
  const at = (address: string, files = { ...layer, ...cards }) =>
    planVulkan({ adapter: `h100 ${address}` }, machine(files)).variables;
  t.same(at('pci:0000:c1:00.0'), { DRI_PRIME: 'pci-0000_c1_00_0', MESA_VK_DEVICE_SELECT_FORCE_DEFAULT_DEVICE: '1' });
  t.same(at('PCI:00000000:C1:00.0'), at('pci:c1:00.0'), 'as nvidia-smi prints it, and without a domain');
  t.throws(() => at('pci:02:00.0'), { code: 'INVALID_PARAMETER', message: /0000:41:00\.0, 0000:c1:00\.0/ });
  t.throws(() => at('pci:41:00.0', cards as typeof layer & typeof cards), { message: /VK_LAYER_MESA_device_select/ });
  for (const bad of ['pci:', 'pci:41', 'pci:41:00.0 pci:c1:00.0', 'pci:41:00.9']) t.throws(() => at(bad), bad);
  t.same(parseAdapterWish('NVIDIA h100').words, ['nvidia', 'h100']);
  t.same(parseAdapterWish(undefined).words, []);
});
