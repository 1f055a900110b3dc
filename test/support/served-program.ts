import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { projectRoot } from '../../src/paths.js';

/** The program as it is started, on the engine cpu with one thread, seen from outside. */
export interface ServedProgram {
  /** as in http://127.0.0.1:1234 */
  readonly http: string;
  /** as in 127.0.0.1:1234 */
  readonly grpc: string;
  readonly admin: string;
  /** the lines of its log so far */
  readonly lines: readonly string[];
  /** a metric, with its labels as they are written, after a collection of all garbage; NaN if there is no such line */
  read(name: string): Promise<number>;
}

/**
 * Starts `interstice serve`, which is killed when the test ends.
 * @param maxFiles limit of open files; default: that of this process
 */
export async function serveProgram(
  t: Test,
  settings: Readonly<Record<string, string>>,
  maxFiles?: number,
): Promise<ServedProgram> {
  const program = join(projectRoot, 'dist/src/cli/main.js');
  const collect = new URL('./collect-garbage.js', import.meta.url).href;
  const limit = maxFiles === undefined ? '' : `ulimit -n ${maxFiles}; `;
  const child = spawn('sh', ['-c', `${limit}exec "$0" "$1" serve`, process.execPath, program], {
    env: {
      ...process.env,
      NODE_OPTIONS: `--import=${collect}`,
      INTERSTICE_HTTP_PORT: '0',
      INTERSTICE_GRPC_PORT: '0',
      INTERSTICE_ADMIN_PORT: '0',
      INTERSTICE_ENGINE: 'cpu',
      INTERSTICE_THREADS: '1',
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const lines: string[] = [];
  const { address, grpcAddress, adminAddress } = await new Promise<Record<string, string>>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (line.includes('The server is listening.')) resolve(JSON.parse(line));
    });
    void ended.then(() => reject(new Error(`The program has ended.\n${lines.join('\n')}`)));
  });
  const read = async (name: string) => {
    child.kill('SIGWINCH');
    const text = await (await fetch(`${adminAddress}/metrics`)).text();
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length));
  };
  return { http: String(address), grpc: String(grpcAddress), admin: String(adminAddress), lines, read };
}
