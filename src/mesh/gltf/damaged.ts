import { IntersticeError } from '../../contract/errors.js';

/** What the checks of a glTF file share (whole.ts, nodes.ts). */

/** @throws IntersticeError MALFORMED_BODY */
export function refuse(what: string): never {
  throw new IntersticeError('MALFORMED_BODY', `This glTF file is damaged: ${what}.`, {
    hint: 'The file, or one that belongs to it, may be incomplete. Export it again.',
  });
}

/** The entry that a part of the file refers to. @throws IntersticeError MALFORMED_BODY if there is none */
export function at<T>(list: readonly T[], index: number, who: string, what: string): T {
  const found = Number.isInteger(index) ? list[index] : undefined;
  return found ?? refuse(`${who} refers to ${what} ${index}, but there are only ${list.length}`);
}
