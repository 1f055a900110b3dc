/**
 * Builds the page that the service shows at `/` into dist/page: scripts and styles bundled into files whose names
 * contain the hash of their content, `index.html`, which refers to them, and `interstice.html`, which contains
 * everything in one file, opens without a server, and is filled with data by `interstice explain`.
 *
 *     node deploy/page.mjs
 *
 * At first it imports only Node's own modules, because prepare.mjs imports it before the packages are installed.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCE = join(root, 'src', 'page');
const OUTPUT = join(root, 'dist', 'page');
const STAMP = '.stamp';
const CONTRACT = join(root, 'proto', 'interstice', 'v1', 'collision.proto');
/** The message that the page reads as protobuf, with its nested messages. */
const READ_AS_BYTES = 'interstice.v1.ResolveResponse';
/** Folders whose files may be part of the bundle. */
const FOLDERS = ['src/page', 'src/client', 'src/contract', 'src/mesh', 'checker', 'proto'];

/** Placeholders in the template for the links to script and styles, and for the data of a report. */
const HEAD_MARK = '<!-- head -->';
const SCRIPT_MARK = '<!-- script -->';

const hashOf = (text) => createHash('sha256').update(text).digest('hex').slice(0, 12);
const digestOf = (text) => `sha256-${createHash('sha256').update(text).digest('base64')}`;

const stampOf = () => {
  const hash = createHash('sha256');
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name)),
  );
  // The lock file states the versions of the bundler and of the packages in the bundle.
  for (const file of [...files.sort(), fileURLToPath(import.meta.url), join(root, 'package-lock.json')]) {
    hash.update(relative(root, file).split(sep).join('/')).update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
};

/** Whether dist/page was built from these sources. */
export const isPageBuilt = () => {
  const stamp = join(OUTPUT, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === stampOf();
};

/** The tables with which the page reads a message, see src/page/service/decode.ts. */
export const contractTables = async () => {
  const { default: protobuf } = await import('protobufjs');
  const contract = new protobuf.Root();
  // The library includes the standard types.
  contract.resolvePath = (_origin, target) => (target.startsWith('google/') ? null : target);
  await contract.load(CONTRACT, { keepCase: false });
  contract.resolveAll();
  const tables = { messages: {}, enums: {} };
  const scalars = new Set(['double', 'float', 'uint32', 'uint64', 'bool', 'string', 'bytes']);
  const add = (message) => {
    if (tables.messages[message.name]) return;
    const fields = {};
    tables.messages[message.name] = fields;
    for (const field of message.fieldsArray) {
      const { resolvedType } = field;
      const isEnum = resolvedType instanceof protobuf.Enum;
      if (!resolvedType && !scalars.has(field.type))
        throw new Error(`The page reads no fields of the type ${field.type}.`);
      if (field.map) throw new Error(`The page reads no maps, as ${field.fullName} is one.`);
      const isOptional = field.hasPresence && !field.repeated;
      fields[field.id] = [
        field.name,
        resolvedType?.name ?? field.type,
        field.repeated ? 'repeated' : isOptional ? 'optional' : 'one',
      ];
      if (isEnum) tables.enums[resolvedType.name] = resolvedType.valuesById;
      else if (resolvedType) add(resolvedType);
    }
  };
  add(contract.lookupType(READ_AS_BYTES));
  return tables;
};

const bundle = async () => {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: { page: join(SOURCE, 'main.ts'), style: join(SOURCE, 'styles', 'page.css') },
    absWorkingDir: root,
    outdir: OUTPUT,
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    // Readers of mesh files use it like Node's.
    inject: [join(SOURCE, 'files', 'buffer.ts')],
    // The glTF library and the checker of certificates load these in Node, never in a browser.
    external: ['node:fs', 'node:path', 'node:url', 'node:fs/promises'],
    define: { CONTRACT_TABLES: JSON.stringify(await contractTables()) },
    legalComments: 'eof',
    tsconfig: join(SOURCE, 'tsconfig.json'),
    logLevel: 'warning',
  });
  const textOf = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text;
  return { script: textOf('.js'), style: textOf('.css') };
};

/** The page in one file. Its policy allows only this script and this style, by their digests, and no connection. */
const selfContained = (template, { script, style }) => {
  const policy = [
    "default-src 'none'",
    `script-src '${digestOf(script)}'`,
    `style-src '${digestOf(style)}'`,
    'img-src data: blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return template
    .replace(
      HEAD_MARK,
      () =>
        `<meta name="interstice-mode" content="standalone"><meta http-equiv="Content-Security-Policy" content="${policy}"><style>${style}</style>`,
    )
    .replace(SCRIPT_MARK, () => `<script type="module">${script}</script>`);
};

/** Renames a folder; failures with one of these codes change nothing and are expected. */
const moveUnless = (codes, from, to) => {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!codes.includes(error.code)) throw error;
  }
};

/** Builds the page unless it is up to date. Returns whether it was built. */
export const buildPage = async (isForced = false) => {
  if (!isForced && isPageBuilt()) return false;
  const stamp = stampOf();
  const parts = await bundle();
  const template = readFileSync(join(SOURCE, 'index.html'), 'utf8');
  const scriptName = `page-${hashOf(parts.script)}.mjs`;
  const styleName = `page-${hashOf(parts.style)}.css`;
  const files = {
    [scriptName]: parts.script,
    [styleName]: parts.style,
    'index.html': template
      .replace(HEAD_MARK, `<link rel="stylesheet" href="page/${styleName}">`)
      .replace(SCRIPT_MARK, `<script type="module" src="page/${scriptName}"></script>`),
    'interstice.html': selfContained(template, parts),
    [STAMP]: stamp,
  };
  // A service that starts meanwhile finds either the old page or the new one.
  const [draft, old] = ['new', 'old'].map((word) => `${OUTPUT}.${process.pid}.${word}`);
  const clear = () => {
    for (const folder of [draft, old]) rmSync(folder, { recursive: true, force: true });
  };
  clear();
  mkdirSync(draft, { recursive: true });
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(draft, name), text);
    // Another process may build it at the same time: files that are removed one by one could be those of its page.
    moveUnless(['ENOENT'], OUTPUT, old);
    moveUnless(['ENOTEMPTY', 'EEXIST'], draft, OUTPUT);
  } finally {
    clear();
  }
  return true;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isNew = await buildPage();
  process.stderr.write(`page: ${isNew ? 'written' : 'up to date'}\n`);
}
