import { access, constants, open, readdir, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../folders.js';
import { splitMorph } from '../mesh/files/index.js';
import { beginTrace, INDEX_DRAFT_NAME, INDEX_NAME, STATE_NAME } from '../session/trace.js';
import { companionsOf } from './companions.js';
import { UsageError } from './exit-codes.js';
import { pathFailure } from './path-failure.js';

const ignoreMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};

/** Explains why a path cannot be written. */
export const writingFailure = pathFailure('write', {
  ENOENT: 'a folder of the path does not exist',
  EISDIR: 'the path is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'links of the path lead in a circle',
  EACCES: 'this user has no permission to write there',
  EPERM: 'this user has no permission to write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk space of this user is used up',
});

/**
 * Checks an output path before anything is computed, so that a run of minutes cannot fail on a mistyped path or a
 * missing permission.
 *
 * @param inputs as on the command line, also `shirt.glb#Smile`
 * @throws UsageError if the folder is missing or cannot be written, the path is not a regular file, or it is one of the
 *   inputs (links are followed)
 */
export async function assertWritable(path: string, inputs: readonly string[]): Promise<void> {
  try {
    await assertReplaceable(path, inputs);
  } catch (thrown) {
    throw writingFailure(thrown, path);
  }
}

async function assertReplaceable(path: string, inputs: readonly string[]): Promise<void> {
  const name = dirname(path);
  const folder = await stat(name).catch(ignoreMissing);
  if (folder === undefined) throw new UsageError(`Cannot write ${path}: the folder ${name} does not exist.`);
  if (!folder.isDirectory()) throw new UsageError(`Cannot write ${path}: ${name} is not a folder.`);
  const existing = await stat(path).catch(ignoreMissing);
  if (existing !== undefined && !existing.isFile())
    throw new UsageError(`Cannot write ${path}: it exists and is not a regular file.`);
  const destination = await destinationOf(path);
  await access(dirname(destination), constants.W_OK | constants.X_OK);
  // A name may be short enough for the file, but not for the temporary one.
  await stat(temporaryOf(destination)).catch(ignoreMissing);
  if (existing === undefined) return;
  for (const input of inputs) {
    const { path: file } = splitMorph(input);
    for (const each of [file, ...(await companionsOf(file))]) {
      // What cannot be read of a glTF file is told when the file is read.
      const other = await stat(each).catch(each === file ? ignoreMissing : () => undefined);
      if (other?.ino !== existing.ino || other.dev !== existing.dev) continue;
      const what = each === file ? `the input ${input}` : `${each}, which belongs to the input ${input}`;
      throw new UsageError(`The output would overwrite ${what}. Name another file.`);
    }
  }
}

/** The file that a path names: links are followed, also to a file that does not exist yet. */
async function destinationOf(path: string): Promise<string> {
  const existing = await realpath(path).catch(ignoreMissing);
  if (existing !== undefined) return existing;
  const next = await readlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EINVAL' || error.code === 'ENOENT') return undefined;
    throw error;
  });
  return next === undefined ? path : destinationOf(resolve(await realpath(dirname(path)), next));
}

const temporaryOf = (destination: string): string => `${destination}.${process.pid}.tmp`;

/**
 * Writes a temporary file next to the path and renames it: readers see the old file or the complete new one. A link
 * keeps pointing to the file it names, and an existing file keeps its permissions.
 *
 * @param beforeNaming called with the path of the complete temporary file; if it fails, nothing was written
 * @throws UsageError if the path cannot be written; what `beforeNaming` throws
 */
export async function writeAtomically(
  path: string,
  chunks: Iterable<Uint8Array>,
  beforeNaming?: (temporary: string) => Promise<void>,
): Promise<void> {
  try {
    await replace(path, chunks, beforeNaming);
  } catch (thrown) {
    throw writingFailure(thrown, path);
  }
}

async function replace(
  path: string,
  chunks: Iterable<Uint8Array>,
  beforeNaming: ((temporary: string) => Promise<void>) | undefined,
): Promise<void> {
  const existing = await stat(path).catch(ignoreMissing);
  const destination = await destinationOf(path);
  const temporary = temporaryOf(destination);
  try {
    const file = await open(temporary, 'wx', existing?.mode);
    try {
      for (const chunk of chunks) await file.writeFile(chunk);
      await file.sync();
    } finally {
      await file.close();
    }
    await beforeNaming?.(temporary);
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
 * @param inputs files of the run, which may be states of an earlier trace
 * @throws UsageError for a folder that holds an input or anything else, or cannot be written
 */
export async function prepareTraceFolder(folder: string, inputs: readonly string[] = []): Promise<void> {
  try {
    makeFolder(folder);
  } catch {
    throw new UsageError(`Cannot use ${folder} for a trace: it is not a folder and cannot be created.`, 'resolve');
  }
  for (const input of inputs) {
    const place = await realpath(input).then(dirname, ignoreMissing);
    if (place === (await realpath(folder)))
      throw new UsageError(`Cannot use ${folder} for a trace: the input ${input} lies in it. Name another folder.`);
  }
  const names = await readdir(folder);
  const isIndex = (name: string): boolean => name === INDEX_NAME || name === INDEX_DRAFT_NAME;
  const foreign = names.find((name) => !isIndex(name) && !STATE_NAME.test(name));
  if (foreign !== undefined || (names.length > 0 && !names.some(isIndex))) {
    throw new UsageError(
      `Cannot use ${folder} for a trace: it contains ${foreign ?? names[0]}. Name an empty or a new folder.`,
      'resolve',
    );
  }
  try {
    for (const name of names) await rm(join(folder, name));
    beginTrace(folder);
  } catch (thrown) {
    throw writingFailure(thrown, folder);
  }
}
