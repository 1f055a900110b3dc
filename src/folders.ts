import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder and those above it that are missing. `mkdir` of Node with `recursive` never returns where a file
 * system lets nobody create folders and says that they are missing, as /proc does: it takes the parent for missing,
 * finds it, and tries again.
 *
 * @param mode of the folders that are created
 * @throws errors of the file system: ENOENT if the folder above exists and none can be created in it, EEXIST if the
 *   path is a file
 */
export function makeFolder(folder: string, mode = 0o777): void {
  try {
    mkdirSync(folder, { mode });
  } catch (thrown) {
    if (isFolder(folder)) return;
    const parent = dirname(resolve(folder));
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(parent)) throw thrown;
    makeFolder(parent, mode);
    makeFolder(folder, mode);
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
