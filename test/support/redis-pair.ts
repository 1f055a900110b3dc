import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { FAST_SYNC, Redis } from '../../bench/cluster/redis.js';

/** Starts a Redis server and a replica of it, which has its data when this returns. Both stop with the test. */
export async function startPair(t: Test): Promise<{ readonly primary: Redis; readonly replica: Redis }> {
  const primary = await Redis.start(FAST_SYNC);
  t.teardown(() => primary.stop());
  const replica = await Redis.start([...FAST_SYNC, '--replicaof', '127.0.0.1', String(primary.port)]);
  t.teardown(() => replica.stop());
  while (!/master_link_status:up/.test(replica.cli('INFO', 'replication'))) await sleep(50);
  return { primary, replica };
}
