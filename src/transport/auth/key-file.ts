import { createHash, randomBytes } from 'node:crypto';
import type { Caller } from '../../contract/call-context.js';
import { IntersticeError } from '../../contract/errors.js';
import type { Priority } from '../../contract/requests.js';

/** One accepted key. The key itself is known to its holder only; the file has its digest. */
export interface KeyEntry {
  readonly caller: Caller;
  /** sha256 of the key's text, 32 bytes */
  readonly digest: Buffer;
}

const PRIORITIES: readonly Priority[] = ['BATCH', 'NORMAL', 'INTERACTIVE'];

/** A key whose line names none may ask for any. */
const DEFAULT_PRIORITY: Priority = 'INTERACTIVE';

/** Tenants stand in logs, in metrics and in this file, whose separator is the colon. */
const TENANT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Every request is compared with every key: this many cost about a millisecond. */
export const MAX_KEYS = 10_000;

/** Random bytes of a new key: nobody guesses 256 bits, so a plain digest is enough to store it. */
const KEY_BYTES = 32;

export const digestOf = (key: string): Buffer => createHash('sha256').update(key).digest();

/**
 * Reads a file of keys: `tenant:sha256hex[:priority]` a line, # begins a comment.
 *
 * @throws INVALID_PARAMETER that lists every line at fault; no digest is repeated
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
    const object = (what: string) => problems.push(`line ${index + 1}: ${what}`);
    const [tenant = '', digest = '', priority = DEFAULT_PRIORITY, ...rest] = text.split(':').map((part) => part.trim());
    if (rest.length > 0 || digest === '') object('expected tenant:sha256hex[:priority]');
    else if (!TENANT.test(tenant)) object(TENANT_RULE);
    else if (!/^[0-9a-fA-F]{64}$/.test(digest)) object('the digest must be 64 hexadecimal digits (sha256 of the key)');
    else if (!isPriority(priority)) object(`the priority must be ${PRIORITIES.join(', ')}`);
    else if (entries.has(digest.toLowerCase())) object('this key stands in the file already');
    else {
      const caller = { tenant, maxPriority: priority.toUpperCase() as Priority };
      entries.set(digest.toLowerCase(), { caller, digest: Buffer.from(digest, 'hex') });
    }
  }
  if (entries.size === 0 && problems.length === 0) problems.push('there is no key in it, so nobody could call');
  if (entries.size > MAX_KEYS) problems.push(`there are ${entries.size} keys, and the limit is ${MAX_KEYS}`);
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
  'a tenant is 1 to 64 letters, digits, dots, underscores and hyphens, and begins with a letter or a digit';

const isPriority = (text: string): boolean => PRIORITIES.includes(text.toUpperCase() as Priority);

export interface NewKey {
  /** for its holder; it cannot be found again from the line */
  readonly key: string;
  /** for the file */
  readonly line: string;
}

/** @throws INVALID_PARAMETER for a name or a priority that the file could not hold */
export function makeKey(tenant: string, priority: string = DEFAULT_PRIORITY): NewKey {
  if (!TENANT.test(tenant))
    throw new IntersticeError('INVALID_PARAMETER', `${JSON.stringify(tenant)}: ${TENANT_RULE}.`);
  if (!isPriority(priority)) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The priority is ${JSON.stringify(priority)}, expected ${PRIORITIES.join(', ')}.`,
    );
  }
  const key = `isk_${randomBytes(KEY_BYTES).toString('base64url')}`;
  return { key, line: `${tenant}:${digestOf(key).toString('hex')}:${priority.toUpperCase()}` };
}
