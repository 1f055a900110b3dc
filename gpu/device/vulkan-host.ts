import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { IntersticeError } from '../../src/contract/errors.js';
import { makeFolder } from '../../src/folders.js';
import { cardVariables, parseAdapterWish } from './adapter-wish.js';

/**
 * What a process must arrange before it loads Vulkan on Linux: the loader must find the driver of a card without a
 * display, the driver must have a folder for compiled kernels, and the loader must show the requested card. All three
 * are environment variables, which loader and drivers read once, when the first adapter is requested.
 */

/** The parts of the machine that this module reads; tests describe others. */
export interface Host {
  readonly platform: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  exists(path: string): boolean;
  /** names in a folder; none if it cannot be read */
  list(folder: string): readonly string[];
  /** undefined if it cannot be read */
  read(path: string): string | undefined;
  /** the target of a symbolic link, or the path itself */
  target(path: string): string;
  /** Whether the folder can be written; creates it if necessary, for this user alone. */
  canWrite(folder: string): boolean;
  /** Whether the folder belongs to this user, and no other user may write to it. */
  isOwn(folder: string): boolean;
}

export interface VulkanWishes {
  /** INTERSTICE_ADAPTER */
  readonly adapter?: string | undefined;
  /** INTERSTICE_SHADER_CACHE: a folder for compiled kernels; undefined = the folder of the user, or a temporary one */
  readonly shaderCache?: string | undefined;
}

export interface VulkanPlan {
  /** environment variables to set */
  readonly variables: Readonly<Record<string, string>>;
  /** a driver manifest to write, if none describes the driver that was found */
  readonly manifest?: { readonly path: string; readonly text: string };
}

/** The variables with which a user names the drivers; their values are never changed. */
const DRIVER_VARIABLES = ['VK_DRIVER_FILES', 'VK_ICD_FILENAMES', 'VK_ADD_DRIVER_FILES'];

/**
 * Folders in which the loader looks for manifests, and additional ones in which installations of NVIDIA's driver put
 * theirs.
 */
const LOADER_MANIFESTS = ['/etc', '/usr/local/etc', '/usr/local/share', '/usr/share'];
const OTHER_MANIFESTS = ['/usr/local/nvidia/share', '/run/opengl-driver/share', '/opt/nvidia/share'];

/** EGL first: NVIDIA's library for GLX needs libraries of X11, which a machine without a display rarely has. */
const NVIDIA_EGL = 'libEGL_nvidia.so.0';
const NVIDIA_GLX = 'libGLX_nvidia.so.0';
const X11 = ['libX11.so.6', 'libXext.so.6'];
const LOADER = 'libvulkan.so.1';

/**
 * The first loader that reads VK_ADD_DRIVER_FILES, which names drivers in addition to those that it finds
 * (Vulkan-Loader, pull request 815; Ubuntu 22.04 has 1.3.204). Older ones read only VK_ICD_FILENAMES, which names all
 * of them.
 */
const ADDING_LOADER = [1, 3, 207] as const;

const TRIPLES = ['x86_64-linux-gnu', 'aarch64-linux-gnu'];

const listed = (text: string | undefined): string[] => (text ?? '').split(':').filter((part) => part !== '');

/** Folders of shared libraries: those in the linker's variable, then the usual ones. */
function libraryFolders({ environment }: Host): string[] {
  return [
    ...listed(environment.LD_LIBRARY_PATH),
    '/usr/local/nvidia/lib64',
    '/usr/local/nvidia/lib',
    ...TRIPLES.flatMap((triple) => [`/usr/lib/${triple}`, `/usr/lib/${triple}/nvidia/current`, `/lib/${triple}`]),
    '/usr/lib64',
    '/usr/lib64/nvidia',
    '/lib64',
    '/usr/lib',
    '/usr/lib/nvidia',
    '/lib',
    '/usr/local/lib',
    '/run/opengl-driver/lib',
  ];
}

/** Returns the path of a shared library; undefined = it is in none of the folders. */
function findLibrary(host: Host, name: string): string | undefined {
  return libraryFolders(host)
    .map((folder) => join(folder, name))
    .find((path) => host.exists(path));
}

const canLoad = (host: Host, library: string): boolean =>
  !library.endsWith(NVIDIA_GLX) || X11.every((name) => findLibrary(host, name) !== undefined);

/** Whether a manifest names a library that exists and can be loaded. */
function isUsable(host: Host, manifest: string): boolean {
  const library = /"library_path"\s*:\s*"([^"]+)"/.exec(host.read(manifest) ?? '')?.[1];
  if (library === undefined) return false;
  const path = library.includes('/') ? resolve(dirname(manifest), library) : findLibrary(host, library);
  return path !== undefined && host.exists(path) && canLoad(host, path);
}

const manifestsIn = (host: Host, folders: readonly string[]): string[] =>
  folders
    .map((folder) => join(folder, 'vulkan', 'icd.d'))
    .flatMap((folder) => host.list(folder).map((name) => join(folder, name)));

/** Returns the first usable manifest of NVIDIA's driver in these folders. */
function findManifest(host: Host, folders: readonly string[]): string | undefined {
  return manifestsIn(host, folders).find((path) => /nvidia[^/]*\.json$/i.test(path) && isUsable(host, path));
}

/** Returns the loader, by the file to which its name links, such as libvulkan.so.1.3.204; undefined = there is none. */
function findLoader(host: Host): { readonly file: string; readonly canAdd: boolean } | undefined {
  const path = findLibrary(host, LOADER);
  if (path === undefined) return undefined;
  const file = host.target(path);
  const version = /\.so\.(\d+)\.(\d+)\.(\d+)$/.exec(file)?.slice(1).map(Number);
  // A name without a version gives no information; few systems have an old loader.
  const differing = version?.findIndex((part, n) => part !== ADDING_LOADER[n]) ?? -1;
  return { file, canAdd: differing < 0 || version![differing]! > ADDING_LOADER[differing]! };
}

/** Names a driver to the loader, in addition to those that it finds itself. */
function addDriver(host: Host, manifest: string): Readonly<Record<string, string>> {
  if (findLoader(host)?.canAdd !== false) return { VK_ADD_DRIVER_FILES: manifest };
  const { HOME, XDG_CONFIG_HOME, XDG_CONFIG_DIRS, XDG_DATA_HOME, XDG_DATA_DIRS } = host.environment;
  const ofUser = (folder: string | undefined, usual: string): string[] =>
    folder ? [folder] : HOME ? [join(HOME, usual)] : [];
  const folders = [
    ...ofUser(XDG_CONFIG_HOME, '.config'),
    ...(XDG_CONFIG_DIRS ? listed(XDG_CONFIG_DIRS) : ['/etc/xdg']),
    ...ofUser(XDG_DATA_HOME, '.local/share'),
    ...LOADER_MANIFESTS,
    ...listed(XDG_DATA_DIRS),
  ];
  const others = manifestsIn(host, [...new Set(folders)]).filter((path) => path.endsWith('.json'));
  return { VK_ICD_FILENAMES: [manifest, ...others].join(':') };
}

/**
 * Finds NVIDIA's driver if the loader would not: by a manifest outside the loader's folders, or by its library alone,
 * for EGL or GLX. Other drivers come with a manifest that names a library without conditions.
 */
function planDriver(host: Host): VulkanPlan {
  const { environment } = host;
  if (DRIVER_VARIABLES.some((name) => environment[name])) return { variables: {} };
  if (findManifest(host, [...LOADER_MANIFESTS, ...listed(environment.XDG_DATA_DIRS)])) return { variables: {} };
  const elsewhere = findManifest(host, OTHER_MANIFESTS);
  if (elsewhere) return { variables: addDriver(host, elsewhere) };
  const library = [NVIDIA_EGL, NVIDIA_GLX]
    .map((name) => findLibrary(host, name))
    .find((path) => path !== undefined && canLoad(host, path));
  const home = library === undefined ? undefined : temporaryFolder(host);
  if (library === undefined || home === undefined) return { variables: {} };
  const path = join(home, 'nvidia_icd.json');
  const icd = { file_format_version: '1.0.1', ICD: { library_path: library, api_version: '1.3.0' } };
  return { variables: addDriver(host, path), manifest: { path, text: `${JSON.stringify(icd)}\n` } };
}

/**
 * Returns a folder for files that may be lost; undefined = there is none to which only this user can write. Other users
 * with write access could put their own kernels there.
 */
function temporaryFolder(host: Host): string | undefined {
  const folder = join(host.environment.TMPDIR || tmpdir(), `interstice-${userInfo().uid}`);
  return host.canWrite(folder) && host.isOwn(folder) ? folder : undefined;
}

/**
 * Selects the folder in which drivers keep compiled kernels: without it every start compiles all of them, which takes
 * seconds. Mesa's drivers and NVIDIA's read variables of their own; values set by the user remain.
 *
 * @throws INVALID_PARAMETER if the requested folder cannot be written
 */
function planCache(host: Host, wanted: string | undefined): Record<string, string> {
  const { environment } = host;
  let folder = wanted;
  if (folder !== undefined) {
    if (!host.canWrite(folder)) {
      throw new IntersticeError(
        'INVALID_PARAMETER',
        `The folder for compiled kernels, ${folder}, cannot be written by this process.`,
        { hint: 'Set INTERSTICE_SHADER_CACHE to a folder that belongs to the user of the service.' },
      );
    }
  } else {
    const users = environment.XDG_CACHE_HOME || (environment.HOME ? join(environment.HOME, '.cache') : undefined);
    if (users !== undefined && host.canWrite(users)) return {};
    const temporary = temporaryFolder(host);
    if (temporary === undefined) return {};
    folder = temporary;
  }
  const variables = {
    MESA_SHADER_CACHE_DIR: folder,
    __GL_SHADER_DISK_CACHE_PATH: folder,
    // NVIDIA's driver keeps nothing for root by default.
    __GL_SHADER_DISK_CACHE: '1',
  };
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !environment[name]));
}

/**
 * Bits of the vectors with which llvmpipe computes. It writes code for every memory access of every lane, on which a
 * compilation spends most of its time: with four lanes instead of the eight of AVX2, opening the engine takes 0.7 of the
 * processor time. Steps take as long, or up to a tenth longer (docs/measurements.md).
 */
const SOFTWARE_VECTOR = { LP_NATIVE_VECTOR_WIDTH: '128' } as const;

const planSoftware = ({ environment }: Host): Readonly<Record<string, string>> =>
  environment.LP_NATIVE_VECTOR_WIDTH ? {} : SOFTWARE_VECTOR;

/** Returns the settings to make before Vulkan is loaded. @throws INVALID_PARAMETER for an unavailable card or folder */
export function planVulkan({ adapter, shaderCache }: VulkanWishes, host: Host): VulkanPlan {
  if (host.platform !== 'linux') return { variables: {} };
  const { variables, ...driver } = planDriver(host);
  return {
    ...driver,
    variables: {
      ...variables,
      ...planCache(host, shaderCache),
      ...planSoftware(host),
      ...cardVariables(parseAdapterWish(adapter), host),
    },
  };
}

/**
 * Sets the environment for Vulkan. Call it on the main thread before an adapter is opened on any thread: the
 * environment of another thread is a copy that no native code sees.
 *
 * @throws INVALID_PARAMETER for an unavailable card or folder
 */
export function prepareVulkan(wishes: VulkanWishes = {}): void {
  if (!isMainThread) return;
  const { variables, manifest } = planVulkan(wishes, thisHost);
  if (manifest) writeFileSync(manifest.path, manifest.text);
  Object.assign(process.env, variables);
}

/** Vendors by the PCI number that Linux shows; their drivers come with Mesa. */
const MESA_MAKERS: Readonly<Record<string, string>> = { '0x1002': 'AMD', '0x8086': 'Intel' };
const SOFTWARE = 'A software driver: deploy/install-software-vulkan.sh (Debian, Ubuntu).';

/** Says what is missing for a card that is present, and what installs it; undefined = no card is visible. */
export function describeCardWithoutDriver(host: Host = thisHost): string | undefined {
  if (host.platform !== 'linux') return undefined;
  const card = host.list('/dev').find((name) => /^nvidia\d+$/.test(name));
  const library = findLibrary(host, NVIDIA_EGL) ?? findLibrary(host, NVIDIA_GLX);
  if (card !== undefined) {
    const found = `An NVIDIA card is here (/dev/${card})`;
    if (library === undefined) {
      return (
        `${found}, the Vulkan part of its driver is not (${NVIDIA_EGL} or ${NVIDIA_GLX}): install nvidia-vulkan-icd (Debian) or ` +
        `libnvidia-gl-VERSION (Ubuntu) in the version of the driver; for a container, NVIDIA_DRIVER_CAPABILITIES must contain graphics.`
      );
    }
    return (
      `${found}, and so is its driver (${library}), which does not load: it needs libegl1, and ${NVIDIA_GLX} needs libx11-6 and libxext6 too; ` +
      `LD_LIBRARY_PATH must contain ${dirname(library)} where the linker does not know that folder.`
    );
  }
  const node = host.list('/dev/dri').find((name) => name.startsWith('renderD'));
  const maker = MESA_MAKERS[(host.read(`/sys/class/drm/${node}/device/vendor`) ?? '').trim()];
  if (node !== undefined && maker !== undefined) {
    return (
      `A card of ${maker} is here (/dev/dri/${node}): install mesa-vulkan-drivers (Debian, Ubuntu; Debian 12 from backports), and let this user ` +
      `open the device, which the group render may.`
    );
  }
  if (library === undefined) return undefined;
  return `NVIDIA's driver is here (${library}), but no card (/dev/nvidia0): a container needs the card passed in, for example by --gpus all.`;
}

/** Says what to install if no adapter was found at all. */
export function describeMissingDriver(host: Host = thisHost): string {
  if (host.platform !== 'linux') return 'WebGPU needs a driver for Metal or Direct3D 12.';
  const loader = findLoader(host);
  if (loader === undefined) {
    const card = describeCardWithoutDriver(host);
    return `WebGPU needs the Vulkan loader (${LOADER}): install libvulkan1 (Debian, Ubuntu) or vulkan-loader (Fedora, RHEL), and a driver. ${card ?? SOFTWARE}`;
  }
  return `WebGPU needs a Vulkan driver; the loader (${loader.file}) has found none. ${describeCardWithoutDriver(host) ?? 'No graphics card is visible to this process.'} ${SOFTWARE}`;
}

export const thisHost: Host = {
  platform: process.platform,
  get environment() {
    return process.env;
  },
  exists: existsSync,
  list: (folder) => {
    try {
      return readdirSync(folder);
    } catch {
      return [];
    }
  },
  read: (path) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  },
  target: (path) => {
    try {
      return realpathSync(path);
    } catch {
      return path;
    }
  },
  canWrite: (folder) => {
    try {
      makeFolder(folder, 0o700);
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
      return true;
    } catch {
      return false;
    }
  },
  isOwn: (folder) => {
    const { uid, mode } = statSync(folder);
    return uid === userInfo().uid && (mode & 0o022) === 0;
  },
};
