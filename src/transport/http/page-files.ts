import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { projectRoot } from '../../paths.js';

/** One file of the page as it is sent. */
export interface PageFile {
  readonly body: Buffer;
  readonly type: string;
  /** of the content; a browser sends it to ask whether its copy is current */
  readonly etag: string;
  /** whether the name contains the hash of the content, so that a copy never becomes stale */
  readonly isImmutable: boolean;
}

/** The page as the build wrote it. */
export interface Page {
  readonly index: PageFile;
  /** by path below `page/` */
  readonly files: ReadonlyMap<string, PageFile>;
}

/** Folders of the page that the build writes, and of the example pairs. */
const PAGE_FOLDER = join(projectRoot, 'dist', 'page');
const PAIRS_FOLDER = join(projectRoot, 'examples', 'pairs');

const INDEX = 'index.html';
/** The page in one file, for use without a server. */
const STANDALONE = 'interstice.html';
/** Files of an example pair that the page reads, in the order in which it lists them. */
const PAIR_FILES = ['start.obj', 'target.obj', 'options.json'];

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.obj': 'text/plain; charset=utf-8',
};

/**
 * Reads the page and the example pairs into memory: they take less than three megabytes, and no request can name a file
 * on disk.
 *
 * @returns undefined if the page was not built
 */
export function readPage(folder: string = PAGE_FOLDER, pairs: string = PAIRS_FOLDER): Page | undefined {
  if (!existsSync(join(folder, INDEX))) return undefined;
  const files = new Map<string, PageFile>();
  for (const name of readdirSync(folder)) {
    if (/^page-[0-9a-f]+\.(mjs|css)$/.test(name)) files.set(name, fileOf(name, readFileSync(join(folder, name)), true));
  }
  const standalone = join(folder, STANDALONE);
  if (existsSync(standalone)) files.set(STANDALONE, fileOf(STANDALONE, readFileSync(standalone), false));
  for (const [name, body] of readPairs(pairs)) files.set(name, fileOf(name, body, false));
  return { index: fileOf(INDEX, readFileSync(join(folder, INDEX)), false), files };
}

/** `examples.json` with the names of the pairs, and the files of each below its name. */
function* readPairs(folder: string): Generator<[string, Buffer]> {
  const names: string[] = [];
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    const paths = PAIR_FILES.map((file) => join(folder, name, file));
    if (!paths.every((path) => existsSync(path))) continue;
    names.push(name);
    for (const [i, path] of paths.entries()) yield [`examples/${name}/${PAIR_FILES[i]}`, readFileSync(path)];
  }
  yield ['examples.json', Buffer.from(JSON.stringify(names))];
}

function fileOf(name: string, body: Buffer, isImmutable: boolean): PageFile {
  const type = TYPES[extname(name)];
  if (type === undefined) throw new Error(`The page has a file of an unknown type, ${name}.`);
  return { body, type, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`, isImmutable };
}
