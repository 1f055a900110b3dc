/**
 * Makes a fresh clone runnable: installs the packages if they do not match the lock file, writes the code that is
 * generated from the contract, and compiles if a source has changed since the last build. Runs before `npm start`,
 * `npm test` and `npm run bench`; ends quickly if there is nothing to do. `--force` compiles from scratch. `--product`
 * compiles only what the service and its command need, in half the time, unless everything has been compiled before.
 *
 * Uses only Node's own modules, because it runs before anything is installed.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generate, isGenerated } from './generate.mjs';
import { withLock } from './lock.mjs';
import { buildPage, isPageBuilt } from './page.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (...names) => join(root, ...names);

/**
 * What can be built: source folders, the projects of the compiler, the stamp of a complete build, and the record of the
 * compiler (tsBuildInfoFile of the first project).
 */
const ALL = {
  folders: ['src', 'gpu', 'test', 'bench', 'examples'],
  projects: [root, at('src', 'page')],
  stamp: at('dist', '.build-stamp'),
  record: at('dist', '.tsbuildinfo'),
};
const PRODUCT = {
  folders: ['src', 'gpu'],
  projects: [at('src')],
  stamp: at('dist', '.product-stamp'),
  record: at('dist', '.product.tsbuildinfo'),
};
const BUILD_SETTINGS = ['tsconfig.json', join('src', 'tsconfig.json'), 'package.json', 'package-lock.json'];
const INSTALL_STAMP = at('node_modules', '.interstice-install');
const LOCK = at('.build', 'prepare.lock');
const COMPILER = at('node_modules', 'typescript', 'bin', 'tsc');
const EXECUTABLE = 0o755;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM'];

const say = (text) => process.stderr.write(`prepare: ${text}\n`);
const readText = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);

/** An error whose message is complete; any other error is printed with its stack. */
class Refusal extends Error {}

/** Every file under a folder, as paths relative to the root, sorted so that hashes do not depend on the file system. */
const listFiles = (folder, keep) =>
  existsSync(at(folder))
    ? readdirSync(at(folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && keep(entry.name))
        .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
        .sort()
    : [];

const isSource = (name) => name.endsWith('.ts') && !name.endsWith('.d.ts');
const listSources = ({ folders }) => folders.flatMap((folder) => listFiles(folder, isSource));
/** Code for browsers is bundled; the compiler writes only those of its modules that others use. */
const IN_BROWSERS = ['src/page/', 'examples/pictures/page/'];
const isCompiled = (source) => !IN_BROWSERS.some((folder) => source.split(sep).join('/').startsWith(folder));
const outputOf = (source) => join('dist', source.replace(/\.ts$/, '.js'));

const hashFiles = (files) => {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  for (const file of files) {
    const bytes = readFileSync(at(file));
    hash.update(`${file.split(sep).join('/')} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex');
};

/** Runs a program with its output passed through; rejects with its exit code. */
const run = (what, program, args) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 2, 2], shell: program === 'npm' });
    // Otherwise the child would continue after this program has ended.
    const forward = (signal) => child.kill(signal);
    for (const signal of STOP_SIGNALS) process.on(signal, forward);
    child.once('close', () => {
      for (const signal of STOP_SIGNALS) process.off(signal, forward);
    });
    child.once('error', (error) => reject(new Refusal(`${what} could not be started: ${error.message}.`)));
    child.once('close', (code, signal) =>
      code === 0
        ? resolve()
        : reject(new Refusal(`${what} failed (${signal ?? `exit code ${code}`}). See the output above.`)),
    );
  });

/**
 * Whether npm's own record of node_modules matches the lock file; npm writes it last, so an interrupted installation
 * has none.
 */
const isInstalledByHand = () => {
  const record = readText(at('node_modules', '.package-lock.json'));
  if (record === undefined) return false;
  const installed = JSON.parse(record).packages;
  const wanted = JSON.parse(readFileSync(at('package-lock.json'), 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, entry]) =>
      path === '' ||
      (installed[path] === undefined
        ? entry.optional === true || entry.devOptional === true
        : installed[path].version === entry.version && installed[path].integrity === entry.integrity),
  );
};

const install = async () => {
  const wanted = hashFiles(['package-lock.json']);
  if (readText(INSTALL_STAMP) === wanted) return;
  if (!isInstalledByHand()) {
    say('Installing the packages of package-lock.json (npm ci) …');
    const npm = process.env.npm_execpath;
    const args = ['ci', '--no-audit', '--no-fund', '--include=dev'];
    await (npm?.endsWith('.js') ? run('npm ci', process.execPath, [npm, ...args]) : run('npm ci', 'npm', args));
  }
  writeFileSync(INSTALL_STAMP, wanted);
};

const hasOutputs = (sources) => sources.filter(isCompiled).every((source) => existsSync(at(outputOf(source))));

const isStamped = (what) => {
  const sources = listSources(what);
  return readText(what.stamp) === hashFiles([...sources, ...BUILD_SETTINGS]) && hasOutputs(sources);
};

/** Whether it is built, by itself or with everything else. */
const isBuilt = (what) => isStamped(what) || (what !== ALL && isStamped(ALL));

/** The sources that the compiler has recorded; undefined = its record is missing or has another form. */
const recordedIn = ({ record, folders }) => {
  try {
    const paths = JSON.parse(readText(record)).fileNames.map((path) => relative(root, join(dirname(record), path)));
    return paths.filter((path) => folders.includes(path.split(sep)[0]) && isSource(path));
  } catch {
    return undefined;
  }
};

/** Removes outputs of deleted sources, because deleted tests would still be found and run. */
const removeOrphans = (what, sources) => {
  const stems = new Set(sources.map((source) => join('dist', source.replace(/\.ts$/, ''))));
  const outputs = what === ALL ? ['dist'] : what.folders.map((folder) => join('dist', folder));
  for (const folder of outputs) {
    for (const file of listFiles(folder, (name) => /\.(js|js\.map|d\.ts)$/.test(name))) {
      if (!stems.has(file.replace(/\.(js|js\.map|d\.ts)$/, ''))) rmSync(at(file));
    }
  }
};

const build = async (what, isForced) => {
  if (!isForced && isBuilt(what)) return;
  const sources = listSources(what);
  const stamp = hashFiles([...sources, ...BUILD_SETTINGS]);
  // From here until the compiler succeeds, dist does not count as complete. A record does not know what the other
  // build has written since.
  for (const old of [ALL.stamp, PRODUCT.stamp, ...(what === ALL ? [PRODUCT.record] : [])]) rmSync(old, { force: true });
  if (isForced) rmSync(at('dist'), { recursive: true, force: true });
  removeOrphans(what, sources);
  // The compiler trusts its own record and would not write a removed output again. New sources have none yet.
  const recorded = recordedIn(what)?.filter((source) => existsSync(at(source)));
  if (!recorded || !hasOutputs(recorded)) rmSync(what.record, { force: true });
  say(`Compiling ${sources.length} files …`);
  const compile = (folder) => run('The TypeScript compiler', process.execPath, [COMPILER, '-p', folder]);
  await Promise.all(what.projects.map(compile));
  // npx makes the command executable only once per folder, when it links it; each build writes new files.
  for (const file of Object.values(JSON.parse(readText(at('package.json'))).bin)) chmodSync(at(file), EXECUTABLE);
  mkdirSync(at('dist'), { recursive: true });
  writeFileSync(what.stamp, stamp);
};

const isReady = (what) =>
  readText(INSTALL_STAMP) === hashFiles(['package-lock.json']) && isGenerated() && isBuilt(what) && isPageBuilt();

const main = async () => {
  const [unknown] = process.argv.slice(2).filter((argument) => !['--force', '--product'].includes(argument));
  if (unknown) throw new Refusal(`The argument ${unknown} is unknown. The options are --force and --product.`);
  const isForced = process.argv.includes('--force');
  // Where everything has been built before, only what has changed since is compiled, which takes less time.
  const what = process.argv.includes('--product') && !existsSync(ALL.record) ? PRODUCT : ALL;
  const [major] = process.versions.node.split('.').map(Number);
  if (major < 20) throw new Refusal(`Node ${process.versions.node} is too old. Version 20 or newer is required.`);
  if (!isForced && isReady(what)) return;
  const since = performance.now();
  const work = async () => {
    await install();
    if (await generate()) say('Generated the code of the contract.');
    await build(what, isForced);
    if (await buildPage(isForced)) say('Bundled the page.');
  };
  await withLock(LOCK, work, (pid) => say(`Waiting for process ${pid}, which is preparing this folder …`));
  say(`Ready after ${((performance.now() - since) / 1000).toFixed(1)} s.`);
};

try {
  await main();
} catch (error) {
  say(error instanceof Refusal ? error.message : error.stack);
  process.exitCode = 1;
}
