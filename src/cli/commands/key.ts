import { IntersticeError } from '../../contract/errors.js';
import { makeKey, type NewKey } from '../../transport/auth/key-file.js';
import type { CliContext } from '../backend.js';
import { EXIT, UsageError } from '../exit-codes.js';

export interface KeyFlags {
  readonly priority?: string;
}

/** `interstice key TENANT`: prints a new key once, with the line that makes a service accept it. */
export function runKey(tenant: string, { priority }: KeyFlags, { terminal }: CliContext): number {
  const { key, line } = keyFor(tenant, priority);
  terminal.out.write(`key   ${key}\nline  ${line}\n`);
  if (terminal.out.isTerminal) {
    terminal.err.write('Give the key to its holder now: it is not shown again. Add the line to the key file.\n');
  }
  return EXIT.OK;
}

/** @throws UsageError: there is no request that could be refused, so an invalid tenant is a mistake in the command line */
function keyFor(tenant: string, priority: string | undefined): NewKey {
  try {
    return makeKey(tenant, priority);
  } catch (thrown) {
    throw thrown instanceof IntersticeError ? new UsageError(thrown.message, 'key') : thrown;
  }
}
