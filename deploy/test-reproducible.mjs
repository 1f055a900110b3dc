/**
 * Builds the checkout twice, in folders of other names with other time zones, packs both, and compares every byte of dist and of the
 * package. (npm keeps the modes of files, so a package depends on the mask for new files: both use the usual one.) Prints one line per
 * check, then `N passed, N failed, N skipped`. Takes two whole builds.
 *
 *     node deploy/test-reproducible.mjs
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openTally } from './tally.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** What the build keeps for itself: when and from what it was made. */
const OWN = /^(\.build-stamp|\.tsbuildinfo|\.tsgo\.tsbuildinfo)$/;

const tally = openTally('reproducible');
const { check } = tally;
const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

const listing = spawnSync('git', ['-c', 'safe.directory=*', 'ls-files', '-z'], { cwd: root, encoding: 'utf8' });
const files = listing.stdout.split('\0').filter(Boolean);
const work = mkdtempSync(join(tmpdir(), 'interstice-reproducible-'));

/** @returns the copy's folder, built and packed */
async function build(name, zone) {
  const folder = join(work, name);
  process.umask(0o022);
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  // The packages are input; a link, because the compiler writes nothing there.
  symlinkSync(realpathSync(join(root, 'node_modules')), join(folder, 'node_modules'));
  const command = `umask 022 && node deploy/prepare.mjs --force && npm pack --ignore-scripts --pack-destination "$PWD/.."/${name}-package`;
  mkdirSync(join(work, `${name}-package`));
  const child = spawn('bash', ['-c', command], { cwd: folder, stdio: 'pipe', env: { ...process.env, TZ: zone } });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      log += chunk;
    });
  const [code] = await once(child, 'close');
  check(code === 0, `the build in ${name}`, log.slice(-4000));
  return folder;
}

const hashesIn = (folder) =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !OWN.test(entry.name))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .map((path) => [relative(folder, path), sha256(path)]),
  );

try {
  const [a, b] = [await build('a', 'UTC'), await build('another-folder', 'Pacific/Auckland')];
  if (!tally.hasFailed) {
    const [one, other] = [a, b].map((folder) => hashesIn(join(folder, 'dist')));
    const names = [...new Set([...one.keys(), ...other.keys()])];
    const differing = names.filter((name) => one.get(name) !== other.get(name));
    check(differing.length === 0, `${names.length} files of dist are equal`, differing.slice(0, 20).join('\n'));
    const [first, second] = [a, b].map((folder) => {
      const [name] = readdirSync(`${folder}-package`);
      return join(`${folder}-package`, name);
    });
    check(sha256(first) === sha256(second), `the packages are equal (sha256 ${sha256(first)})`, sha256(second));
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
tally.end();
