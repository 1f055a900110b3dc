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
