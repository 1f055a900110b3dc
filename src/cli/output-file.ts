import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from './exit-codes.js';

const ignoreMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};

/**
 * Looks at an output path before anything is computed: a run of minutes must not end with a typo in its last argument.
 *
 * @throws UsageError when the folder is missing, the path is no regular file, or it is one of the inputs (also by another
 *   name: links are followed)
 */
export async function assertWritable(path: string, inputs: readonly string[]): Promise<void> {
  const folder = await stat(dirname(path)).catch(ignoreMissing);
  if (folder?.isDirectory() !== true) {
    throw new UsageError(`cannot write ${path}: the folder ${dirname(path)} does not exist.`);
  }
  const existing = await stat(path).catch(ignoreMissing);
  if (existing === undefined) return;
  if (!existing.isFile()) throw new UsageError(`cannot write ${path}: it exists and is not a regular file.`);
  for (const input of inputs) {
    const other = await stat(input).catch(ignoreMissing);
    if (other?.ino === existing.ino && other.dev === existing.dev) {
      throw new UsageError(`refusing to overwrite the input ${input}; name another file with -o.`);
    }
  }
}

/**
 * Writes beside the path and renames: readers see the old file or the whole new one, never a part. A link keeps pointing
 * to the file it names, and an existing file keeps its permissions.
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
