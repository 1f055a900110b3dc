import { makeKey } from '../../transport/auth/key-file.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';

export interface KeyFlags {
  readonly priority?: string;
}

/** `interstice key TENANT`: a new key, shown this once, and the line that makes a service accept it. */
export function runKey(tenant: string, { priority }: KeyFlags, { terminal }: CliContext): number {
  const { key, line } = makeKey(tenant, priority);
  terminal.out.write(`key   ${key}\nline  ${line}\n`);
  if (terminal.out.isTerminal) {
    terminal.err.write('Give the key to its holder: it is shown only now. Put the line into the file of keys.\n');
  }
  return EXIT.OK;
}
