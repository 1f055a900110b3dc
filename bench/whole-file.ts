import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../src/folders.js';

/**
 * Writes a file beside the path and renames it, so that a run that ends in the middle leaves the earlier file. A link
 * keeps pointing to the file that it names; what is no regular file (a pipe, a device) is written to directly. Missing
 * folders are created.
 */
export function writeWhole(path: string, content: string | Uint8Array): void {
  makeFolder(dirname(path));
  const existing = statSync(path, { throwIfNoEntry: false });
  if (existing?.isFile() === false) {
    writeFileSync(path, content);
    return;
  }
  const destination = existing ? realpathSync(path) : path;
  const draft = `${destination}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, content);
    renameSync(draft, destination);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
