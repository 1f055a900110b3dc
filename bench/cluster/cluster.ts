import { spawnSync } from 'node:child_process';
import os from 'node:os';
import { ServerProcess } from '../prove/server.js';
import { freePort } from './free-port.js';
import { HaProxy } from './ha-proxy.js';
import { Redis } from './redis.js';
import { Wire } from './wire.js';

export interface Place {
  readonly name: string;
  readonly http: number;
  readonly grpc: number;
  readonly capacity: number;
  readonly wire: Wire;
  process: ServerProcess | undefined;
}

/** How long a server that has been told to stop continues to serve, so that the proxy notices. */
export const DRAIN_NOTICE_MS = 2000;

export interface StoredState {
  readonly owner: string;
  readonly epoch: number;
  readonly frame: bigint;
  /** number of frames ever accepted, unless the session was rewritten after a loss of the store */
  readonly accepted: bigint;
}

const READ_SESSIONS = `
local found = {}
for _, key in ipairs(redis.call('KEYS', 'interstice:session:*')) do
  local f = redis.call('HMGET', key, 'owner', 'epoch', 'frame', 'logged')
  found[#found + 1] = string.match(key, '[^:]*$') .. ' ' .. table.concat(f, ' ')
end
return found`;

/** Real servers behind a real HAProxy with a real Redis, all on loopback. */
export class Cluster {
  private constructor(
    readonly redis: Redis,
    readonly places: readonly Place[],
    readonly proxy: HaProxy,
  ) {}

  /** @param count number of servers to start; there is room for one more */
  static async start(count: number, redisSettings: readonly string[]): Promise<Cluster> {
    const redis = await Redis.start(redisSettings);
    const places: Place[] = [];
    for (let k = 0; k <= count; k++) {
      const [http, grpc, capacity, wire] = [
        await freePort(),
        await freePort(),
        await freePort(),
        await Wire.open(redis.port),
      ];
      places.push({ name: `w${k + 1}`, http, grpc, capacity, wire, process: undefined });
    }
    const cluster = new Cluster(redis, places, await HaProxy.start(places));
    try {
      await Promise.all(places.slice(0, count).map((place) => cluster.startServer(place)));
      await cluster.proxy.waitFor(places.at(-1)!.name, 'isDown');
      return cluster;
    } catch (thrown) {
      await cluster.stop();
      throw thrown;
    }
  }

  get running(): readonly Place[] {
    return this.places.filter(({ process }) => process?.isAlive);
  }

  /** Resolves when the proxy has noticed it, too. */
  async startServer(place: Place): Promise<void> {
    place.process = await ServerProcess.start({
      engine: 'cpu',
      environment: {
        INTERSTICE_HTTP_PORT: String(place.http),
        INTERSTICE_GRPC_PORT: String(place.grpc),
        INTERSTICE_CAPACITY_PORT: String(place.capacity),
        INTERSTICE_THREADS: '1',
        INTERSTICE_CORES: '1',
        INTERSTICE_MAX_CONNECTIONS_PER_ADDRESS: '1000',
        INTERSTICE_STORE: `redis://127.0.0.1:${place.wire.port}/0`,
        INTERSTICE_STORE_TIMEOUT_SECONDS: '6',
        // Less than the patience with a server that has been told to stop (ServerProcess.stop); it ends as soon as
        // nothing runs.
        INTERSTICE_DRAIN_SECONDS: '12',
        INTERSTICE_DRAIN_NOTICE_SECONDS: String(DRAIN_NOTICE_MS / 1000),
      },
    });
    await this.proxy.waitFor(place.name, 'isUp');
  }

  /**
   * Returns the state of every session in the store: its owner, its number of takeovers, its frame, and the number of
   * accepted frames.
   */
  storedSessions(): ReadonlyMap<string, StoredState> {
    const lines = this.redis.cli('EVAL', READ_SESSIONS, '0').split('\n').filter(Boolean);
    return new Map(
      lines.map((line) => {
        const [id, owner, epoch, frame, accepted] = line.split(' ') as [string, string, string, string, string];
        return [id, { owner, epoch: Number(epoch), frame: BigInt(frame), accepted: BigInt(accepted) }];
      }),
    );
  }

  /** Returns the number of sessions that a server owns, according to the store. */
  sessionsOf(place: Place): number {
    const owner = this.ownerOf(place);
    return [...this.storedSessions().values()].filter((session) => session.owner === owner).length;
  }

  /** Returns the name that the store gives a server as the owner of sessions. */
  ownerOf({ process }: Place): string {
    return `${os.hostname()}:${process!.pid}`;
  }

  async stop(): Promise<void> {
    await this.proxy.stop();
    await Promise.all(this.places.map(async ({ process }) => process?.kill()));
    await Promise.all(this.places.map(({ wire }) => wire.close()));
    await this.redis.stop();
  }
}

/** Why a cluster cannot be started here; false = it can. */
export const lacksCluster: string | false = (() => {
  if (process.env.INTERSTICE_REQUIRE_REDIS === '1') return false;
  const missing = [
    ['redis-server', '--version'],
    ['haproxy', '-v'],
  ].filter(([program, flag]) => spawnSync(program!, [flag!]).status !== 0);
  return missing.length === 0 ? false : `no ${missing.map(([name]) => name).join(', no ')} on this machine`;
})();
