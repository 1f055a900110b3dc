import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface ServerSettings {
  readonly engine: 'cpu' | 'webgpu';
  /** folder of the build to start, which contains src/cli/main.js; absent = this build */
  readonly build?: string | undefined;
  /** path of a program to start instead of that of the build: the same service, composed otherwise */
  readonly program?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** command line that starts the service, with the service's own command line appended */
  readonly launcher?: readonly string[];
  /** called with every line that it logs */
  readonly onLine?: (line: string) => void;
}

/** The addresses of its doors, as it logs them. */
interface Addresses {
  readonly address: string;
  readonly grpcAddress?: string;
  readonly adminAddress?: string;
}

/** The real service in a process of its own, on a port of its own. */
export class ServerProcess {
  private constructor(
    private readonly addresses: Addresses,
    private readonly child: ChildProcess,
    /** the last lines that it logged, to report why it ended */
    readonly log: readonly string[],
  ) {}

  /** of the HTTP door, like `http://127.0.0.1:8080` */
  get address(): string {
    return this.addresses.address;
  }

  /** like `127.0.0.1:50051` */
  get grpcAddress(): string {
    return this.addresses.grpcAddress ?? '';
  }

  /** like `http://127.0.0.1:9090` */
  get adminAddress(): string {
    return this.addresses.adminAddress ?? '';
  }

  get pid(): number {
    return this.child.pid as number;
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Resolves when the service accepts requests. @throws Error with its log if it ends before */
  static async start(settings: ServerSettings): Promise<ServerProcess> {
    const build = settings.build ?? fileURLToPath(new URL('../../', import.meta.url));
    const main = settings.program ?? join(build, 'src', 'cli', 'main.js');
    const own = [process.execPath, '--import', ORPHAN_GUARD, main, 'serve'];
    const [command, ...args] = [...(settings.launcher ?? []), ...own] as [string, ...string[]];
    const child = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        INTERSTICE_HOST: '127.0.0.1',
        INTERSTICE_HTTP_PORT: '0',
        INTERSTICE_GRPC_PORT: '0',
        INTERSTICE_ADMIN_PORT: '0',
        INTERSTICE_ENGINE: settings.engine,
        INTERSTICE_LOG_LEVEL: 'info',
        ...settings.environment,
      },
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    const log: string[] = [];
    const lines = createInterface({ input: child.stderr! });
    const addresses = await new Promise<Addresses>((resolve, reject) => {
      lines.on('line', (line) => {
        log.push(line);
        settings.onLine?.(line);
        if (log.length > KEPT_LINES) log.shift();
        const found = addressesIn(line);
        if (found) resolve(found);
      });
      child.once('exit', (code, signal) =>
        reject(new Error(`The service ended with ${signal ?? code}: ${log.join('\n')}`)),
      );
    });
    const server = new ServerProcess(addresses, child, log);
    await server.#untilReady();
    return server;
  }

  async #untilReady(): Promise<void> {
    while (this.isAlive) {
      const response = await fetch(`${this.address}/readyz`).catch(() => undefined);
      await response?.arrayBuffer();
      if (response?.ok) return;
      await setTimeout(POLL_MS);
    }
    throw new Error(`The service ended before it was ready: ${this.log.join('\n')}`);
  }

  /** Resident memory in bytes, if the system reports it. */
  residentBytes(): number | undefined {
    try {
      const line = readFileSync(`/proc/${this.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+) kB/);
      return line ? Number(line[1]) * 1024 : undefined;
    } catch {
      return undefined;
    }
  }

  /** Processor time of all its threads so far, s, to a hundredth, if the system reports it. */
  processorTime(): number | undefined {
    try {
      const line = readFileSync(`/proc/${this.pid}/stat`, 'latin1');
      // Fields after the name, which may hold anything: user and system time are the 14th and 15th of all, in ticks.
      const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    } catch {
      return undefined;
    }
  }

  /** Ends it at once, between any two of its instructions. */
  async kill(): Promise<void> {
    if (!this.isAlive) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  async stop(): Promise<void> {
    if (!this.isAlive) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const patience = new AbortController();
    const wait = setTimeout(GRACE_MS, undefined, { signal: patience.signal }).then(
      () => this.child.kill('SIGKILL'),
      () => false,
    );
    await gone;
    patience.abort();
    await wait;
  }
}

const running = new Set<ChildProcess>();

/** For a campaign that is interrupted: no service outlives it. */
export function killAllServers(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** A campaign that is killed cannot stop its services, so each of them watches the campaign. */
const ORPHAN_GUARD = new URL('./orphan-guard.js', import.meta.url).href;

const KEPT_LINES = 40;
/** USER_HZ, which is 100 on every Linux */
const TICKS_PER_SECOND = 100;
/** ms between two requests for its readiness */
const POLL_MS = 50;
/** ms between SIGTERM and SIGKILL: only for a process that hangs, because a busy machine takes long to end threads */
const GRACE_MS = 120_000;

function addressesIn(line: string): Addresses | undefined {
  try {
    const entry = JSON.parse(line) as { msg?: string } & Addresses;
    return entry.msg === 'The server is listening.' ? entry : undefined;
  } catch {
    return undefined;
  }
}
