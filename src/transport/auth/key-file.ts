import { createHash, randomBytes } from 'node:crypto';
import type { Caller } from '../../contract/call-context.js';
import { IntersticeError } from '../../contract/errors.js';
import type { Priority } from '../../contract/requests.js';

/** One accepted key. The file contains only its digest; the key is known to its holder. */
export interface KeyEntry {
  readonly caller: Caller;
  /** SHA-256 of the text of the key, 32 bytes. */
  readonly digest: Buffer;
}

const PRIORITIES: readonly Priority[] = ['BATCH', 'NORMAL', 'INTERACTIVE'];

/** Priority limit of a line without one: none. */
const DEFAULT_PRIORITY: Priority = 'INTERACTIVE';

/** Names of tenants occur in logs, in metrics and in this file, whose separator is the colon. */
const TENANT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Every request is compared with every key; this number costs about a millisecond. */
const MAX_KEYS = 10_000;

/** Random bytes of a new key. 256 bits cannot be guessed, so a plain digest is safe to store. */
const KEY_BYTES = 32;

export const digestOf = (key: string): Buffer => createHash('sha256').update(key).digest();

/**
 * Parses a key file with lines `tenant:sha256hex[:priority]`; # starts a comment.
 *
 * @throws INVALID_PARAMETER with every invalid line; the message contains no digest
 */
export function parseKeys(content: string, path: string): KeyEntry[] {
  const problems: string[] = [];
  const entries = new Map<string, KeyEntry>();
  for (const [index, line] of content
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const text = line.replace(/#.*/, '').trim();
    if (text === '') continue;
    const reject = (reason: string) => problems.push(`Line ${index + 1}: ${reason}`);
    const [tenant = '', digest = '', priority = DEFAULT_PRIORITY, ...rest] = text.split(':').map((part) => part.trim());
    if (rest.length > 0 || digest === '') reject('Expected tenant:sha256hex[:priority].');
    else if (!TENANT.test(tenant)) reject(TENANT_RULE);
    else if (!/^[0-9a-fA-F]{64}$/.test(digest))
      reject('The digest must have 64 hexadecimal digits (sha256 of the key).');
    else if (!isPriority(priority)) reject(`The priority must be one of ${PRIORITIES.join(', ')}.`);
    else if (entries.has(digest.toLowerCase())) reject('This key is already in the file.');
    else {
      const caller = { tenant, maxPriority: priority.toUpperCase() as Priority };
      entries.set(digest.toLowerCase(), { caller, digest: Buffer.from(digest, 'hex') });
    }
  }
  if (entries.size === 0 && problems.length === 0)
    problems.push('The file contains no key, so that no request would be accepted.');
  if (entries.size > MAX_KEYS) problems.push(`The file contains ${entries.size} keys, and the limit is ${MAX_KEYS}.`);
  if (problems.length > 0) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The API keys in ${path} cannot be used:\n- ${problems.join('\n- ')}`,
      {
        hint: 'Correct the file; `interstice key TENANT` makes a key and its line.',
      },
    );
  }
  return [...entries.values()];
}

const TENANT_RULE =
  'A tenant has 1 to 64 letters, digits, dots, underscores and hyphens, and starts with a letter or a digit.';

const isPriority = (text: string): boolean => PRIORITIES.includes(text.toUpperCase() as Priority);

export interface NewKey {
  /** For its holder; it cannot be recovered from the line. */
  readonly key: string;
  /** For the key file. */
  readonly line: string;
}

/** @throws INVALID_PARAMETER for an invalid tenant or priority */
export function makeKey(tenant: string, priority: string = DEFAULT_PRIORITY): NewKey {
  if (!TENANT.test(tenant))
    throw new IntersticeError('INVALID_PARAMETER', `The tenant ${JSON.stringify(tenant)} is not valid. ${TENANT_RULE}`);
  if (!isPriority(priority)) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The priority is ${JSON.stringify(priority)}, expected ${PRIORITIES.join(', ')}.`,
    );
  }
  const key = `isk_${randomBytes(KEY_BYTES).toString('base64url')}`;
  return { key, line: `${tenant}:${digestOf(key).toString('hex')}:${priority.toUpperCase()}` };
}
