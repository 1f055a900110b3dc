/**
 * Checks what the product consists of: lists the packages that are installed with it and their licences, and writes a
 * bill of materials in CycloneDX. Prints one line per check, then `N passed, N failed, N skipped`.
 *
 *     node deploy/trust.mjs                    checks licences and docs/third-party.md
 *     node deploy/trust.mjs --sbom FILE.json   and writes the bill of materials
 *     node deploy/trust.mjs --write            writes docs/third-party.md anew
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PAGE = join(root, 'docs', 'third-party.md');
/** Licences that allow the use, bundling and distribution of packages in this project, beside Apache-2.0 code. */
const ALLOWED = new Set([
  'MIT',
  'Apache-2.0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'Unlicense',
  '0BSD',
]);
/** Development packages that are distributed, bundled into the page. */
const BUNDLED = ['three'];

const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
const { packages } = JSON.parse(lock);

const total = { passed: 0, failed: 0 };
const print = (text) => process.stdout.write(`${text}\n`);
const check = (isRight, what, detail = '') => {
  total[isRight ? 'passed' : 'failed'] += 1;
  print(`${isRight ? ' ok ' : 'FAIL'}  trust: ${what}${isRight || detail === '' ? '' : `\n${detail}`}`);
};

/** The packages of the lock file that reach a user, once per name and version. */
const shipped = () => {
  const found = new Map();
  for (const [path, { version, license, dev, devOptional }] of Object.entries(packages)) {
    const name = path.split('node_modules/').at(-1);
    if (path === '' || ((dev || devOptional) && !BUNDLED.includes(name))) continue;
    found.set(`${name}@${version}`, { name, version, license: license ?? 'not stated' });
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
};

const describe = (list) =>
  [
    '# Packages of others',
    '',
    'These are installed with the service, or bundled into its page, under the licences that they state. Their texts are in the packages.',
    'Written by `node deploy/trust.mjs --write` from `package-lock.json`; the whole check compares it.',
    '',
    '| package | version | licence |',
    '|---|---|---|',
    ...list.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`),
    '',
  ].join('\n');

/**
 * A bill of materials that depends on the lock file only: npm adds the time, the folder and a random number to its own.
 * With `--omit dev` npm leaves out packages that development and product both use, so it lists everything and the rest
 * is removed here.
 */
const billOfMaterials = (list) => {
  const made = spawnSync('npm', ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (made.status !== 0) return { error: `${made.stdout}${made.stderr}` };
  const bill = JSON.parse(made.stdout);
  const hash = createHash('sha256').update(lock.replaceAll('\r\n', '\n')).digest('hex');
  bill.serialNumber = `urn:uuid:${hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-8$4-$5')}`;
  delete bill.metadata.timestamp;
  bill.metadata.component.name = packages[''].name;
  const isShipped = new Set(list.map(({ name, version }) => `${name}@${version}`));
  bill.components = bill.components.filter(({ name, version }) => isShipped.has(`${name}@${version}`));
  const refs = new Set([bill.metadata.component, ...bill.components].map((component) => component['bom-ref']));
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: (dependsOn ?? []).filter((other) => refs.has(other)) }));
  return { bill };
};

const list = shipped();
const text = describe(list);
if (process.argv.includes('--write')) writeFileSync(PAGE, text);
const foreign = list.filter(({ license }) => !ALLOWED.has(license));
check(
  foreign.length === 0,
  `${list.length} packages have licences that are allowed`,
  foreign.map(({ name, license }) => `${name}: ${license}`).join('\n'),
);
check(readFileSync(PAGE, 'utf8') === text, 'docs/third-party.md lists them', 'Run node deploy/trust.mjs --write.');

const at = process.argv.indexOf('--sbom');
if (at >= 0) {
  const { bill, error } = billOfMaterials(list);
  check(bill !== undefined, 'npm makes the bill of materials', error);
  if (bill) {
    const named = new Set(bill.components.map(({ name, version }) => `${name}@${version}`));
    const missing = list.filter(({ name, version }) => !named.has(`${name}@${version}`));
    check(missing.length === 0, 'it names every one of them', missing.map(({ name }) => name).join('\n'));
    writeFileSync(process.argv[at + 1], `${JSON.stringify(bill, undefined, 2)}\n`);
    print(`      ${process.argv[at + 1]}: ${bill.components.length} components, ${bill.serialNumber}`);
  }
}
print(`${total.passed} passed, ${total.failed} failed, 0 skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;
