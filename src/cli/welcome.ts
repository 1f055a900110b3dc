import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packageVersion, projectRoot } from '../paths.js';

const examplePair = 'layers';
/** The part that a caller replaces is in capitals. */
const KEY_HEADER = 'authorization: Bearer YOUR_KEY';
const exampleFiles = ['start.obj', 'target.obj', 'options.json'] as const;

/** A word of a POSIX shell command, quoted only if necessary. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./<-]+$/.test(word) && !word.includes('<') ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A path as a word of such a command: one that begins with a hyphen would be read as an option. */
export const quotePath = (path: string): string => quoteWord(path.startsWith('-') ? `./${path}` : path);

/** In `-F name=@path`, curl reads `,` and `;` as separators unless the path is in double quotes. */
const quoteFormPath = (path: string): string =>
  /[,;"\\]/.test(path) ? `"${path.replace(/["\\]/g, (character) => `\\${character}`)}"` : path;

/** The path relative to the current folder if that is shorter, else the absolute path. */
export function displayPath(path: string, folder: string): string {
  const fromHere = relative(folder, path);
  return fromHere !== '' && fromHere.length < path.length ? fromHere : path;
}

/** An address that a client can connect to: wildcard addresses are only for listening. */
export const reachable = (address: string): string =>
  address.replace(/(^|\/\/)0\.0\.0\.0:/, '$1127.0.0.1:').replace(/(^|\/\/)\[::\]:/, '$1[::1]:');

/**
 * Returns a command that resolves the example pair, prints the headers with the report, and writes answer.obj.
 *
 * @param needsKey adds the place of an API key
 * @returns undefined if the examples are not installed
 */
export function exampleCommand(
  address: string,
  folder: string,
  root = projectRoot,
  needsKey = false,
): string | undefined {
  const paths = exampleFiles.map((name) => join(root, 'examples', 'pairs', examplePair, name));
  if (!paths.every((path) => existsSync(path))) return undefined;
  const [start, target, options] = paths.map((path) => quoteFormPath(displayPath(path, folder)));
  const parts = [`start=@${start}`, `target=@${target}`, `options=<${options}`];
  const form = parts.map((part) => `-F ${quoteWord(part)}`).join(' ');
  const key = needsKey ? `-H ${quoteWord(KEY_HEADER)} ` : '';
  return `curl -sS -D - -o answer.obj ${key}${form} ${quoteWord(`${reachable(address)}/v1/resolve`)}`;
}

export interface ServiceFacts {
  readonly address: string;
  /** host and port of the gRPC server; undefined if it is off */
  readonly grpc?: string | undefined;
  /** address of the admin port; undefined if it is off */
  readonly admin?: string | undefined;
  readonly engine: string;
  readonly command: string | undefined;
  /** whether requests need an API key */
  readonly needsKey?: boolean;
}

const notInstalled = 'The example pairs are not installed. The reference shows a request.';

/** The output for a terminal. The command has its own line, so that it is easy to copy. */
export function renderWelcome({ address, grpc, admin, engine, command, needsKey = false }: ServiceFacts): string {
  const shown = reachable(address);
  const hint = needsKey ? ', with a key in place of YOUR_KEY (interstice key TENANT makes one)' : '';
  return [
    '',
    `  Interstice ${packageVersion} is ready.`,
    '',
    `  address    ${shown}`,
    `  reference  ${shown}/docs`,
    ...(grpc === undefined ? [] : [`  gRPC       ${reachable(grpc)}`]),
    ...(admin === undefined ? [] : [`  metrics    ${reachable(admin)}/metrics`]),
    `  engine     ${engine}`,
    '',
    ...(command === undefined
      ? [`  ${notInstalled}`]
      : [`  Open the address in a browser to see an example, or try one from another terminal${hint}:`, '', command]),
    '',
    '  Ctrl-C stops it.',
    '',
    '',
  ].join('\n');
}

/** The output for a pipe: one name and value per line. */
export function renderFacts({ address, grpc, admin, engine, command }: ServiceFacts): string {
  const lines = [
    `address ${reachable(address)}`,
    ...(grpc === undefined ? [] : [`grpc ${reachable(grpc)}`]),
    ...(admin === undefined ? [] : [`admin ${reachable(admin)}`]),
    `engine ${engine}`,
    ...(command === undefined ? [] : [`try ${command}`]),
  ];
  return `${lines.join('\n')}\n`;
}
