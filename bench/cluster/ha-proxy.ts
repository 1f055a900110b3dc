import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRoot } from '../../src/paths.js';
import { spawnBound } from './bound-process.js';
import { freePort } from './free-port.js';

export interface Backend {
  readonly name: string;
  readonly http: number;
  readonly grpc: number;
  /** address at which it reports its free capacity */
  readonly capacity: number;
}

/** HAProxy's state of one server, over HTTP and gRPC together. */
export interface ServerState {
  readonly isUp: boolean;
  /** whether the checks of both backends say that it may not be used */
  readonly isDown: boolean;
  /** number of times that it was marked down so far */
  readonly downs: number;
  /** requests that went to another server because no connection could be made */
  readonly redispatched: number;
  /** of 100: its share of new work, by HTTP */
  readonly weight: number;
}

type Ports = Omit<Backend, 'name'>;

/** Replacements for the variables of the file. */
const places = {
  HTTP: ({ http }: Ports) => `127.0.0.1:${http}`,
  GRPC: ({ grpc }: Ports) => `127.0.0.1:${grpc}`,
  HEALTH: ({ http }: Ports) => `${http}`,
  CAPACITY: ({ capacity }: Ports) => `${capacity}`,
} as const;

/** ms between two queries of the state */
const POLL_MS = 25;
/** longest wait for a state, ms */
const PATIENCE_MS = 240_000;

/** HAProxy with deploy/haproxy.cfg, with the addresses of a test instead of its own. */
export class HaProxy {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly address: string,
    readonly grpcAddress: string,
  ) {}

  static async start(backends: readonly Backend[]): Promise<HaProxy> {
    const [http, grpc] = [await freePort(), await freePort()];
    const folder = mkdtempSync(join(tmpdir(), 'interstice-haproxy-'));
    const lineOf = (line: string, { name, http, grpc, capacity }: Backend) =>
      line
        .replaceAll('w1', name)
        .replace(/"\$\{INTERSTICE_1_(\w+)-[^"]*"/g, (_, what: keyof typeof places) =>
          places[what]({ http, grpc, capacity }),
        );
    const text = readFileSync(join(projectRoot, 'deploy', 'haproxy.cfg'), 'utf8')
      .replace('global\n', `global\n  stats socket ${join(folder, 'state')} mode 600\n`)
      .replace(/"\S+:8080"/, `127.0.0.1:${http}`)
      .replace(/"\S+:50051"/, `127.0.0.1:${grpc}`)
      .replace(/( {2}server w1 .*\n)( {2}server w\d .*\n)*/g, (_, line: string) =>
        backends.map((backend) => lineOf(line, backend)).join(''),
      );
    const path = join(folder, 'haproxy.cfg');
    writeFileSync(path, text);
    const check = spawnSync('haproxy', ['-c', '-f', path], { encoding: 'utf8' });
    if (check.status !== 0) throw new Error(`HAProxy refuses its configuration: ${check.stderr}`);
    const child = spawnBound('haproxy', ['-db', '-f', path]);
    return new HaProxy(child, folder, `http://127.0.0.1:${http}`, `127.0.0.1:${grpc}`);
  }

  /** State by the name of the server. @throws Error while HAProxy does not answer */
  async state(): Promise<ReadonlyMap<string, ServerState>> {
    const [head = '', ...lines] = (await this.ask('show stat')).trim().split('\n');
    const columns = head.replace(/^# /, '').split(',');
    const rows = lines.map((line) => {
      const cells = line.split(',');
      return (column: string) => cells[columns.indexOf(column)] ?? '';
    });
    const states = new Map<string, ServerState>();
    for (const row of rows) {
      const name = row('svname');
      if (name === 'FRONTEND' || name === 'BACKEND') continue;
      const before = states.get(name) ?? { isUp: true, isDown: true, downs: 0, redispatched: 0, weight: 0 };
      const redispatched = before.redispatched + Number(row('wredis'));
      if (row('pxname').endsWith('_free')) {
        // Its health is that of the same server in the other backend.
        const weight = row('pxname') === 'http_free' ? Number(row('weight')) : before.weight;
        states.set(name, { ...before, redispatched, weight });
        continue;
      }
      // Until the first check HAProxy considers every server up.
      const isUp = row('status').startsWith('UP') && row('check_status').includes('L7OK');
      const isDown = row('status').startsWith('DOWN');
      states.set(name, {
        ...before,
        isUp: before.isUp && isUp,
        isDown: before.isDown && isDown,
        downs: before.downs + Number(row('chkdown')),
        redispatched,
      });
    }
    return states;
  }

  /** @returns ms until the proxy reports the state of the server in both backends */
  async waitFor(name: string, what: 'isUp' | 'isDown'): Promise<number> {
    const startedAt = performance.now();
    for (;;) {
      const states = await this.state().catch(() => undefined);
      const waited = performance.now() - startedAt;
      if (states?.get(name)?.[what]) return waited;
      if (waited > PATIENCE_MS || this.child.exitCode !== null) {
        throw new Error(`HAProxy did not say ${what} of ${name} within ${Math.round(waited)} ms.`);
      }
      await sleep(POLL_MS);
    }
  }

  async stop(): Promise<void> {
    const { child } = this;
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async ask(question: string): Promise<string> {
    const socket = connect(join(this.folder, 'state'));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.end(`${question}\n`);
    await once(socket, 'close');
    return Buffer.concat(chunks).toString();
  }
}
