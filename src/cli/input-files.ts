import { readFile } from 'node:fs/promises';
import { IntersticeError } from '../contract/errors.js';
import { UsageError } from './exit-codes.js';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
};

/** A file that cannot be opened is a mistake on the command line; what else went wrong stays what it is. */
export function openingFailure(thrown: unknown, path: string): unknown {
  const code = (thrown as NodeJS.ErrnoException | null)?.code;
  const reason = typeof code === 'string' ? reasons[code] : undefined;
  return reason === undefined ? thrown : new UsageError(`cannot read ${path}: ${reason}.`);
}

/** Runs a reader of `path` and makes sure that a refusal says which file it is about. */
export async function naming<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    const failure = openingFailure(thrown, path);
    if (failure instanceof IntersticeError && !failure.message.includes(path)) {
      const { code, message, details } = failure.toPlain();
      throw new IntersticeError(code, `${path}: ${message}`, { ...details, cause: failure });
    }
    throw failure;
  }
}

/** The options file: a JSON object; what is in it is judged by the reader that the service uses as well. */
export async function readJsonFile(path: string): Promise<Record<string, unknown>> {
  const text = await naming(path, () => readFile(path, 'utf8'));
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new IntersticeError('MALFORMED_BODY', `${path}: ${(cause as Error).message}`, {
      hint: 'The options file is one JSON object, like {"parameters": {"stepLimit": 100}, "kinematicFrom": 15105}.',
      cause,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new IntersticeError('MALFORMED_BODY', `${path}: the options must be one JSON object.`, {
      hint: 'Write an object, like {"parameters": {"stepLimit": 100}, "kinematicFrom": 15105}.',
    });
  }
  return value as Record<string, unknown>;
}
