import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

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

/** The entries of a folder, by frame; for a frame that was computed again, the last. A truncated line is ignored. */
export async function readJournal(folder: string): Promise<Map<number, JournalEntry>> {
  const text = await readFile(join(folder, JOURNAL_NAME), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const entries = new Map<number, JournalEntry>();
  for (const line of text.split('\n')) {
    const entry = parseEntry(line);
    if (entry) entries.set(entry.frame, entry);
  }
  return entries;
}

function parseEntry(line: string): JournalEntry | undefined {
  try {
    const value = JSON.parse(line) as JournalEntry;
    return Number.isInteger(value.frame) && typeof value.key === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Rewrites the journal with the entries that are still valid. */
export async function writeJournal(folder: string, entries: readonly JournalEntry[]): Promise<void> {
  await writeFile(join(folder, JOURNAL_NAME), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}

/** Call after the file of the frame is complete. */
export async function addToJournal(folder: string, entry: JournalEntry): Promise<void> {
  await appendFile(join(folder, JOURNAL_NAME), `${JSON.stringify(entry)}\n`);
}
