import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RedisStore, type RedisStoreOptions } from '../../src/store/redis-store.js';
import { spawnBound } from './bound-process.js';
import { freePort } from './free-port.js';

/** Redis, or a program with the same protocol: `valkey-server`. */
const PROGRAM = process.env.INTERSTICE_REDIS_SERVER || 'redis-server';

/** Why tests that need a Redis server cannot run here; false = they can. */
export const lacksRedis: string | false = (() => {
  if (process.env.INTERSTICE_REQUIRE_REDIS === '1') return false;
  return spawnSync(PROGRAM, ['--version']).status === 0
    ? false
    : 'no redis-server on this machine (deploy/install-cluster-tools.sh)';
})();

/** Setting of a primary: it sends its data to a replica at once, not after five seconds. */
export const FAST_SYNC = ['--repl-diskless-sync-delay', '0'];

export interface RedisAccess {
  /** paths of PEM files: the server then answers by TLS only */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca: string };
  /** password of the default user at the start */
  readonly password?: string;
}

/** When the server writes its log to disk. */
export const FSYNC_WORDS = ['everysec', 'always'] as const;

/** A Redis server of its own, on loopback. */
export class Redis {
  private child: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly more: readonly string[],
    private access: RedisAccess,
  ) {}

  static async start(more: readonly string[] = [], access: RedisAccess = {}): Promise<Redis> {
    const redis = new Redis(await freePort(), mkdtempSync(join(tmpdir(), 'interstice-redis-')), more, access);
    await redis.restart();
    return redis;
  }

  /** Notes that the password was changed. */
  knows(password: string): void {
    this.access = { ...this.access, password };
  }

  get url(): string {
    return `${this.access.tls ? 'rediss' : 'redis'}://127.0.0.1:${this.port}/0`;
  }

  /** Options of a store, with more patience than a slow machine needs. */
  options(prefix: string, more: Partial<RedisStoreOptions> = {}): RedisStoreOptions {
    return { url: this.url, prefix, timeoutMs: 30_000, replicas: 0, durability: 'any', ...more };
  }

  open(prefix: string, more: Partial<RedisStoreOptions> = {}): Promise<RedisStore> {
    return RedisStore.open(this.options(prefix, more));
  }

  /** Restarts the server with the data on its disk. */
  async restart(): Promise<void> {
    const { port, folder, more } = this;
    const { tls, password } = this.access;
    const files = tls ? ['--tls-cert-file', tls.cert, '--tls-key-file', tls.key, '--tls-ca-cert-file', tls.ca] : [];
    const door = tls
      ? ['--port', '0', '--tls-port', String(port), ...files, '--tls-auth-clients', 'no']
      : ['--port', String(port)];
    const lock = password === undefined ? [] : ['--requirepass', password];
    const settings = [...door, ...lock, '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...more];
    this.child = spawnBound(PROGRAM, settings);
    for (let k = 0; k < 2400 && this.isAlive; k++) {
      if (this.cli('PING') === 'PONG') return;
      await sleep(25);
    }
    throw new Error(`${PROGRAM} did not start.`);
  }

  /** Runs one command, and returns its answer as text. */
  cli(...words: readonly string[]): string {
    const { tls, password } = this.access;
    const secret = password === undefined ? [] : ['-a', password, '--no-auth-warning'];
    const way = [...(tls ? ['--tls', '--cacert', tls.ca] : []), ...secret];
    const { stdout } = spawnSync('redis-cli', ['-p', String(this.port), ...way, ...words], { encoding: 'utf8' });
    return stdout.trim();
  }

  signal(name: NodeJS.Signals): void {
    this.child?.kill(name);
  }

  async kill(): Promise<void> {
    if (!this.isAlive) return;
    const gone = once(this.child!, 'exit');
    this.child!.kill('SIGKILL');
    await gone;
  }

  private get isAlive(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
