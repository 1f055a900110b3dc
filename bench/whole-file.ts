import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

/**
 * Replaces a file with this text, or leaves what was there: half a result (the disk is full) could be read as a whole one.
 * Links are followed; a pipe or a device is written to.
 *
 * @throws errors of the file system
 */
export function writeWhole(path: string, text: string): void {
  const existing = statSync(path, { throwIfNoEntry: false });
  if (existing && !existing.isFile()) {
    writeFileSync(path, text);
    return;
  }
  const destination = existing ? realpathSync(path) : path;
  const draft = `${destination}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, text);
    renameSync(draft, destination);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
