/**
 * Tests that the same sources give the same bytes: builds a copy of the checkout in a folder with another name and
 * another time zone, packs both, and compares every byte of dist and of the package. Prints one line per check, then
 * `N passed, N failed, N skipped`. Takes one full build.
 *
 *     node deploy/test-reproducible.mjs
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { root, startProgram } from './program.mjs';
import { openTally } from './tally.mjs';

/** Records of the build itself: its time and its sources. */
const OWN = /^(\.build-stamp|\.tsbuildinfo|\.tsgo\.tsbuildinfo)$/;

const tally = openTally('reproducible');
const { check } = tally;
const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

async function run(what, command, cwd, zone = 'UTC') {
  const program = startProgram('bash', ['-c', command], { cwd, env: { ...process.env, TZ: zone } });
  const code = await program.ended;
  check(code === 0, what, program.log().slice(-4000));
}

/**
 * @returns a folder with the sources of the checkout. npm keeps the modes of files, which depend on the umask of their
 *   creator, so all get the usual ones.
 */
function copy(name) {
  const folder = join(work, name);
  for (const file of sources) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
    chmodSync(join(folder, file), statSync(join(root, file)).mode & 0o100 ? 0o755 : 0o644);
  }
  // The packages are input; a link is enough, because the compiler does not write there.
  symlinkSync(realpathSync(join(root, 'node_modules')), join(folder, 'node_modules'));
  return folder;
}

/** @returns the path of the package */
async function pack(folder) {
  const target = `${folder}-package`;
  mkdirSync(target);
  const words = `npm pack --ignore-scripts --pack-destination "${target}"`;
  await run(`the package of ${relative(work, folder)}`, `chmod -R u=rwX,go=rX dist && ${words}`, folder);
  return readdirSync(target).map((name) => join(target, name))[0];
}

const hashesIn = (folder) =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !OWN.test(entry.name))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .map((path) => [relative(folder, path), sha256(path)]),
  );

const listing = spawnSync('git', ['-c', 'safe.directory=*', 'ls-files', '-z'], { cwd: root, encoding: 'utf8' });
const sources = (listing.stdout ?? '').split('\0').filter(Boolean);
if (sources.length === 0) {
  const reason = listing.error?.message ?? listing.stderr;
  process.stdout.write(`skip  reproducible: git does not list the sources: ${reason}\n0 passed, 0 failed, 1 skipped\n`);
  process.exit();
}

const work = mkdtempSync(join(tmpdir(), 'interstice-reproducible-'));
try {
  await run('this checkout is built', 'node deploy/prepare.mjs', root);
  const [own, other] = [copy('checkout'), copy('another-folder')];
  cpSync(join(root, 'dist'), join(own, 'dist'), { recursive: true });
  await run('a copy is built', 'node deploy/prepare.mjs --force', other, 'Pacific/Auckland');
  if (!tally.hasFailed) {
    const [ours, others] = [own, other].map((folder) => hashesIn(join(folder, 'dist')));
    const names = [...new Set([...ours.keys(), ...others.keys()])];
    const differing = names.filter((name) => ours.get(name) !== others.get(name));
    check(differing.length === 0, `${names.length} files of dist are equal`, differing.slice(0, 20).join('\n'));
    const [first, second] = [await pack(own), await pack(other)];
    if (!tally.hasFailed)
      check(sha256(first) === sha256(second), `the packages are equal (sha256 ${sha256(first)})`, sha256(second));
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
tally.end();
