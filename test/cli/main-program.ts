import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const path = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

/** The environment of a person who has set nothing of ours. */
export function plainEnvironment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !/^(INTERSTICE_|NODE_V8_|TAP)/.test(entry[0]),
  );
  return { ...Object.fromEntries(kept), ...more };
}

/** Runs the compiled program as a person would, in a process of its own. */
export const main = Object.assign(
  (argv: readonly string[], settings: { cwd?: string; env?: Record<string, string> } = {}): Ran => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...argv], {
      cwd: settings.cwd,
      env: plainEnvironment(settings.env),
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  },
  { path },
);
