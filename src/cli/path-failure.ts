import { UsageError } from './exit-codes.js';

/**
 * Explains failures of the file system: a path that cannot be used is a mistake in the command line.
 *
 * @param verb what cannot be done with the path
 * @param reasons by code of the system
 * @returns a function that turns such a failure into a UsageError, and returns any other one unchanged
 */
export const pathFailure =
  (verb: 'read' | 'write', reasons: Readonly<Record<string, string>>) =>
  (thrown: unknown, path: string): unknown => {
    const code = (thrown as NodeJS.ErrnoException | null)?.code;
    const reason = typeof code === 'string' ? reasons[code] : undefined;
    return reason === undefined ? thrown : new UsageError(`Cannot ${verb} ${path}: ${reason}.`);
  };

/** Explains why a file cannot be read. */
export const openingFailure = pathFailure('read', {
  ENOENT: 'the file does not exist',
  EACCES: 'this user has no permission to read it',
  EPERM: 'this user has no permission to read it',
  EISDIR: 'the path is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'links of the path lead in a circle',
  ERR_FS_FILE_TOO_LARGE: 'the file has more than 2 GiB, and files of this kind are read as a whole',
});
