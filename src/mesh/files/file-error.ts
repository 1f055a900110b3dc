import { ERRORS, IntersticeError } from '../../contract/errors.js';

/** What to do about a file that cannot be read: the general hint is about the body of a request. */
export const FILE_HINT = 'Repair the file at the place that the message names, or export it again.';

/** The error of a reader, with the name of the file before its message, and a hint about a file. */
export function errorOfFile(name: string, error: IntersticeError): IntersticeError {
  const { code, message, details } = error.toPlain();
  const isGeneral = code === 'MALFORMED_BODY' && details.hint === ERRORS[code].hint;
  return new IntersticeError(code, `${name}: ${message}`, {
    ...details,
    ...(isGeneral ? { hint: FILE_HINT } : {}),
    cause: error,
  });
}
