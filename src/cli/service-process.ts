import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { projectRoot } from '../paths.js';

/** A service in its own process, for a measurement, on free ports of the loopback address. */
export interface ServiceProcess {
  readonly http: string;
  readonly grpc: string;
  readonly admin: string;
  stop(): Promise<void>;
}

/** Ends the service with this process, even if this process is killed. */
const END_WITH_PARENT = new URL('./end-with-parent.js', import.meta.url).href;

/** Settings of a production service on this machine that a measurement must not use: its store, keys, certificates. */
const OF_OTHERS = /^INTERSTICE_(STORE|API_KEY|CONFIG|GRPC_TLS|DRAIN)/;

/**
 * @param signal kills the service if aborted
 * @throws Error with the last lines of its log if it does not start
 */
export async function startService(environment: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<ServiceProcess> {
  const main = join(projectRoot, 'dist', 'src', 'cli', 'main.js');
  const child = spawn(process.execPath, ['--import', END_WITH_PARENT, main, 'serve'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // Ctrl-C on a terminal reaches this process only: it decides when the service ends.
    detached: true,
    ...(signal ? { signal, killSignal: 'SIGKILL' } : {}),
    env: {
      ...Object.fromEntries(Object.entries(environment).filter(([name]) => !OF_OTHERS.test(name))),
      INTERSTICE_HOST: '127.0.0.1',
      INTERSTICE_ADMIN_HOST: '127.0.0.1',
      INTERSTICE_HTTP_PORT: '0',
      INTERSTICE_GRPC_PORT: '0',
      INTERSTICE_ADMIN_PORT: '0',
      INTERSTICE_LOG_LEVEL: 'warn',
    },
  });
  let log = '';
  // Also emitted when the signal kills the service; whoever waits for it notices that its output ends.
  child.on('error', (error) => {
    log += error.message;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    log = `${log}${chunk.toString('utf8')}`.slice(-4000);
  });
  const stop = () => stopProcess(child);
  const facts = new Map<string, string>();
  for await (const line of createInterface({ input: child.stdout })) {
    const [name = '', value = ''] = line.split(/\s+(.*)/);
    facts.set(name, value);
    const [http, grpc, admin] = [facts.get('address'), facts.get('grpc'), facts.get('admin')];
    if (http && grpc && admin) return { http, grpc, admin, stop };
  }
  await stop();
  throw new Error(`The service did not start: ${log.trim()}`);
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}
