import { mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beginTrace, INDEX_NAME, STATE_NAME } from '../session/trace.js';
import { UsageError } from './exit-codes.js';

const ignoreMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};

/**
 * Checks an output path before anything is computed, so that a run of minutes cannot fail on a mistyped path.
 *
 * @throws UsageError if the folder is missing, the path is not a regular file, or it is one of the inputs (links are
 *   followed)
 */
export async function assertWritable(path: string, inputs: readonly string[]): Promise<void> {
  const folder = await stat(dirname(path)).catch(ignoreMissing);
  if (folder?.isDirectory() !== true) {
    throw new UsageError(`Cannot write ${path}: the folder ${dirname(path)} does not exist.`);
  }
  const existing = await stat(path).catch(ignoreMissing);
  if (existing === undefined) return;
  if (!existing.isFile()) throw new UsageError(`Cannot write ${path}: it exists and is not a regular file.`);
  for (const input of inputs) {
    const other = await stat(input).catch(ignoreMissing);
    if (other?.ino === existing.ino && other.dev === existing.dev) {
      throw new UsageError(`The output would overwrite the input ${input}. Name another file with -o.`);
    }
  }
}

/**
 * Writes a temporary file next to the path and renames it: readers see the old file or the complete new one. A link
 * keeps pointing to the file it names, and an existing file keeps its permissions.
 */
export async function writeAtomically(path: string, chunks: Iterable<Uint8Array>): Promise<void> {
  const existing = await stat(path).catch(ignoreMissing);
  const destination = existing === undefined ? path : await realpath(path);
  const temporary = `${destination}.${process.pid}.tmp`;
  try {
    const file = await open(temporary, 'wx', existing?.mode);
    try {
      for (const chunk of chunks) await file.writeFile(chunk);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, destination);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Checks, before anything is computed, that a folder can hold a trace: it may be missing, empty, or hold an earlier
 * trace, which is replaced, because states of two runs in one folder would look like one path. trace.json exists from
 * the beginning, so that the folder of an interrupted run is recognised; its `isComplete` is false.
 *
 * @throws UsageError for a folder that holds anything else
 */
export async function prepareTraceFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch {
    throw new UsageError(`Cannot use ${folder} for a trace: it is not a folder and cannot be created.`, 'resolve');
  }
  const names = await readdir(folder);
  const foreign = names.find((name) => name !== INDEX_NAME && !STATE_NAME.test(name));
  if (foreign !== undefined || (names.length > 0 && !names.includes(INDEX_NAME))) {
    throw new UsageError(
      `Cannot use ${folder} for a trace: it contains ${foreign ?? names[0]}. Name an empty or a new folder.`,
      'resolve',
    );
  }
  for (const name of names) await rm(join(folder, name));
  beginTrace(folder);
}
