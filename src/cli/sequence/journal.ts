import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomically, writingFailure } from '../outputs.js';

/** In the folder of a sequence: one line of JSON for each finished frame. */
const JOURNAL_NAME = 'sequence.jsonl';

/** A finished frame. */
export interface JournalEntry {
  readonly frame: number;
  /** hash of everything that the answer depends on: settings and the inputs of this and all earlier frames */
  readonly key: string;
  /** file name in the folder */
  readonly output: string;
  /** SHA-256 of that file */
  readonly outputHash: string;
  readonly status: string;
  readonly exitCode: number;
}

const sha256 = (): ReturnType<typeof createHash> => createHash('sha256');

export const hashText = (...parts: readonly string[]): string => sha256().update(parts.join('\n')).digest('hex');

/** SHA-256 of a file's bytes. */
export async function hashFile(path: string): Promise<string> {
  const hash = sha256();
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** What the journal of a folder tells. */
export interface Journal {
  /** by frame; for a frame that was computed again, the last */
  readonly entries: ReadonlyMap<number, JournalEntry>;
  /** names of all files that this command may have written, outdated answers included */
  readonly outputs: ReadonlySet<string>;
}

/** A line for a file that is no answer any more: it may be overwritten. */
type Outdated = Pick<JournalEntry, 'output'>;

/**
 * Reads the journal of a folder, which may have none. A truncated line is ignored: its file has not got its name yet.
 *
 * @throws UsageError if there is one that cannot be read, and so not be written
 */
export async function readJournal(folder: string): Promise<Journal> {
  const path = join(folder, JOURNAL_NAME);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw writingFailure(error, path);
  });
  const entries = new Map<number, JournalEntry>();
  const outputs = new Set<string>();
  for (const line of text.split('\n')) {
    const value = parseLine(line);
    if (typeof value?.output !== 'string') continue;
    outputs.add(value.output);
    if (isEntry(value)) entries.set(value.frame, value);
  }
  return { entries, outputs };
}

function parseLine(line: string): Partial<JournalEntry> | undefined {
  try {
    return JSON.parse(line) as Partial<JournalEntry>;
  } catch {
    return undefined;
  }
}

const isEntry = (value: Partial<JournalEntry>): value is JournalEntry =>
  Number.isInteger(value.frame) && typeof value.key === 'string';

const lineOf = (value: JournalEntry | Outdated): string => `${JSON.stringify(value)}\n`;

/**
 * Rewrites the journal with the entries that are still valid, and the names of all other files that it has listed: their
 * frames are computed again, and until then a run that ends early must not leave them as files of somebody else.
 */
export async function writeJournal(
  folder: string,
  entries: readonly JournalEntry[],
  outputs: ReadonlySet<string>,
): Promise<void> {
  const valid = new Set(entries.map(({ output }) => output));
  const outdated = [...outputs].filter((output) => !valid.has(output)).map((output) => ({ output }));
  await writeAtomically(join(folder, JOURNAL_NAME), [Buffer.from([...outdated, ...entries].map(lineOf).join(''))]);
}

/**
 * Call when the bytes of the answer are on the disk, and before they get the name of the entry.
 *
 * @throws UsageError if the journal cannot be written
 */
export async function addToJournal(folder: string, entry: JournalEntry): Promise<void> {
  const path = join(folder, JOURNAL_NAME);
  try {
    const file = await open(path, 'a');
    try {
      await file.writeFile(lineOf(entry));
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (thrown) {
    throw writingFailure(thrown, path);
  }
}
