import { timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Caller } from '../../contract/call-context.js';
import { IntersticeError } from '../../contract/errors.js';
import { digestOf, type KeyEntry, parseKeys } from './key-file.js';

/** Reads a header (gRPC: metadata) by its lower-case name. */
export type ReadHeader = (name: string) => string | undefined;

/** Identifies the caller. @throws UNAUTHENTICATED */
export type Authenticate = (header: ReadHeader) => Caller;

/** The API keys that are accepted now. */
export class Keyring {
  private constructor(
    private readonly path: string,
    private entries: readonly KeyEntry[],
  ) {}

  /** @throws INVALID_PARAMETER if the file cannot be read or used */
  static open(path: string): Keyring {
    return new Keyring(path, readKeys(path));
  }

  get size(): number {
    return this.entries.length;
  }

  /** Reads the file again. @throws INVALID_PARAMETER as {@link open}; the current keys then stay */
  reload(): void {
    this.entries = readKeys(this.path);
  }

  readonly authenticate: Authenticate = (header) => {
    const key = keyIn(header);
    const caller = this.find(digestOf(key));
    if (caller) return caller;
    throw new IntersticeError('UNAUTHENTICATED', 'The API key is unknown.');
  };

  /** Compares with every key, so that the time does not depend on which keys exist. */
  private find(digest: Buffer): Caller | undefined {
    let found: Caller | undefined;
    for (const entry of this.entries) if (timingSafeEqual(entry.digest, digest)) found = entry.caller;
    return found;
  }
}

function readKeys(path: string): KeyEntry[] {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `INTERSTICE_API_KEYS names ${path}, which cannot be read (${(cause as NodeJS.ErrnoException).code ?? cause}).`,
      { cause, hint: 'Correct the path, or make the file readable for the service.' },
    );
  }
  return parseKeys(content, path);
}

/** Error messages do not quote the header: it may contain a key with a typing error. */
function keyIn(header: ReadHeader): string {
  const authorization = header('authorization');
  const own = header('x-api-key');
  const bearer = authorization === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (authorization !== undefined && bearer === undefined) {
    throw new IntersticeError('UNAUTHENTICATED', 'The header authorization must be "Bearer KEY".');
  }
  if (bearer !== undefined && own !== undefined && bearer !== own) {
    throw new IntersticeError('UNAUTHENTICATED', 'The headers authorization and x-api-key hold different keys.');
  }
  const key = bearer ?? own;
  if (key !== undefined && key !== '') return key;
  throw new IntersticeError('UNAUTHENTICATED', 'This request requires an API key.', {
    hint: 'Send it as "authorization: Bearer KEY" or as "x-api-key: KEY".',
  });
}
