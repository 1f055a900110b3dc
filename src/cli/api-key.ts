import { readFileSync } from 'node:fs';
import type { Environment } from '../config/reader.js';
import { UsageError } from './exit-codes.js';
import { openingFailure } from './path-failure.js';

/** For --server. There is no flag for the key: shell histories and process lists show command lines. */
const API_KEY_VARIABLE = 'INTERSTICE_API_KEY';

/**
 * The key for a service that requires one: the content of the file, or else that of the variable, without white space
 * around it.
 *
 * @returns undefined if there is neither
 * @throws UsageError, without the key, if the file cannot be read or its content is not a key
 */
export function readApiKey(file: string | undefined, environment: Environment): string | undefined {
  const found = file === undefined ? environment[API_KEY_VARIABLE] : readKeyFile(file);
  const key = found?.trim();
  if (file === undefined && !key) return undefined;
  // Only characters that a header may contain; keys of `interstice key` qualify.
  if (key && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError(`${file ?? API_KEY_VARIABLE} must contain one API key and nothing else.`);
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    throw openingFailure(thrown, file);
  }
}
