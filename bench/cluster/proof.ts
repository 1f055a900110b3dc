import { setTimeout as sleep } from 'node:timers/promises';
import { Caller, type Way } from './caller.js';
import { Cluster, DRAIN_NOTICE_MS, type Place } from './cluster.js';
import { findLostFrames, type Move } from './moves.js';
import { Reference } from './reference.js';
import { type Event, type Outcome, Run } from './run.js';

export interface ProofSettings {
  readonly workers: number;
  /** number of sessions for each kind of caller */
  readonly sessions: number;
  /** time for which load runs before and after each event */
  readonly seconds: number;
  /** ms from an answer to the next frame of the same session; 0 = as much load as the machine can take */
  readonly frameMs: number;
  /** servers that are restarted one after the other */
  readonly restarts: number;
  /** kinds of events: of the servers, or of their store */
  readonly events: readonly ('servers' | 'store')[];
  /** settings of the Redis server */
  readonly redis: readonly string[];
  readonly tell: (line: string) => void;
}

export const WAYS: readonly Way[] = ['http', 'http without key', 'grpc'];

/**
 * Exposes a cluster under load to the usual disturbances, one after the other. Every caller compares every answer with
 * the bytes of an undisturbed session, so a frame that was lost or computed twice is noticed. Owners of sessions and
 * their takeovers are read from the store; servers considered down, from the proxy. No judgement depends on speed.
 */
export async function prove(settings: ProofSettings): Promise<readonly Outcome[]> {
  const { workers, sessions, tell } = settings;
  const reference = await Reference.open();
  const cluster = await Cluster.start(workers, settings.redis);
  const { address, grpcAddress } = cluster.proxy;
  const callers = WAYS.flatMap((way, w) =>
    Array.from({ length: sessions }, (_, k) => new Caller(way, address, grpcAddress, reference, w * sessions + k)),
  );
  const outcomes: Outcome[] = [];
  const run = new Run(cluster, callers, settings.seconds * 1000, settings.frameMs);
  const watch = async (event: Event) => {
    const outcome = await run.watch(event);
    outcomes.push(outcome);
    tell(describe(outcome));
  };
  try {
    await Promise.all(callers.map((caller) => caller.open()));
    await watch({
      name: 'undisturbed',
      act: async () => '',
      judge: ({ moves, downs, retried, refusedByStore, before, after }) => [
        ...findLostFrames(before, after),
        // A server that was late for several checks in a row, or for a connection, loses its sessions, and a store that
        // was late causes refusals; on a machine that stalls nothing else can be expected.
        ...(downs.length === 0 && moves.length > 0 ? [`${moves.length} sessions did not stay with their server`] : []),
        ...(downs.length === 0 && retried > refusedByStore ? [`${retried} attempts failed`] : []),
      ],
    });

    const scene = { settings, cluster, callers, run, watch };
    if (settings.events.includes('servers')) await disturbServers(scene);
    if (settings.events.includes('store')) await disturbStore(scene);
    return outcomes;
  } finally {
    await run.stop();
    for (const caller of callers) caller.close();
    await cluster.stop();
    await reference.close();
  }
}

interface Scene {
  readonly settings: ProofSettings;
  readonly cluster: Cluster;
  readonly callers: readonly Caller[];
  readonly run: Run;
  readonly watch: (event: Event) => Promise<void>;
}

/** Servers die, return, are restarted, and one is added. */
async function disturbServers({ settings, cluster, callers, watch }: Scene): Promise<void> {
  let victim = busiest(cluster);
  let dead = '';

  await watch({
    name: 'a server is killed',
    act: async () => {
      victim = busiest(cluster);
      dead = cluster.ownerOf(victim);
      const own = cluster.sessionsOf(victim);
      await victim.process!.kill();
      await cluster.proxy.waitFor(victim.name, 'isDown');
      return `it had ${own} of ${callers.length} sessions`;
    },
    judge: ({ moves, before, after, downs }) => {
      const left = [...after].filter(([, { owner }]) => owner === dead).map(([id]) => id);
      return [
        ...left.map((id) => `the dead server still has session ${id}`),
        ...findLostFrames(before, after),
        // A server that was late for other reasons also loses sessions.
        ...(downs.every((name) => name === victim.name) ? onlyOnceFrom(dead, moves) : []),
      ];
    },
  });

  await watch({
    name: 'the server comes back',
    act: async () => {
      await cluster.startServer(victim);
      return '';
    },
    judge: ({ moves, before, after, downs }) => [
      ...findLostFrames(before, after),
      ...(downs.length === 0 ? onlyOnceTo(cluster.ownerOf(victim), moves) : []),
    ],
  });

  let slowestNoticeMs = 0;
  await watch({
    name: 'servers are restarted, one after the other',
    act: async () => {
      const places = cluster.running.slice(0, settings.restarts);
      for (const place of places) {
        const noticed = cluster.proxy.waitFor(place.name, 'isDown');
        const stopped = place.process!.stop();
        slowestNoticeMs = Math.max(slowestNoticeMs, await noticed);
        await stopped;
        await cluster.startServer(place);
      }
      return `${places.length} of ${settings.workers}; the proxy knew after ${Math.round(slowestNoticeMs)} ms at most`;
    },
    judge: ({ retried, refusedByStore, before, after }) => [
      ...findLostFrames(before, after),
      // A proxy that learns too late of a drain sends requests to a server that drains. Half of the notice is reserved
      // for requests in transit.
      ...(retried > refusedByStore && slowestNoticeMs < DRAIN_NOTICE_MS / 2 ? [`${retried} attempts failed`] : []),
    ],
  });

  await watch({
    name: 'one more server',
    act: async () => {
      const more = cluster.places.at(-1)!;
      await cluster.startServer(more);
      return '';
    },
    judge: ({ moves, before, after, downs }) => [
      ...findLostFrames(before, after),
      ...(downs.length === 0 ? onlyOnceTo(cluster.ownerOf(cluster.places.at(-1)!), moves) : []),
    ],
  });
}

/** The store dies, is unreachable for one server, and stalls. */
async function disturbStore({ cluster, callers, run, watch }: Scene): Promise<void> {
  let victim = busiest(cluster);

  await watch({
    name: 'the store is killed, and started after a second',
    act: async () => {
      await cluster.redis.kill();
      await sleep(1000);
      await cluster.redis.restart();
      return '';
    },
    // The servers rewrite data that the store loses. The callers notice if any is missing.
    judge: () => [],
  });

  let left = 0;
  await watch({
    name: 'a server loses the store, until the proxy knows',
    act: async () => {
      victim = busiest(cluster);
      const own = cluster.sessionsOf(victim);
      victim.wire.cut();
      // The first query that the store does not answer in time reveals it; the server is then not ready, and its
      // sessions move.
      await cluster.proxy.waitFor(victim.name, 'isDown');
      await run.untilAnswered();
      left = cluster.sessionsOf(victim);
      victim.wire.mend();
      return `it had ${own} of ${callers.length} sessions`;
    },
    judge: ({ before, after }) => [
      ...findLostFrames(before, after),
      ...(left > 0 ? [`${left} sessions stayed with a server that could not write them`] : []),
    ],
  });

  await watch({
    name: 'the store stands still for a second',
    act: async () => {
      cluster.redis.signal('SIGSTOP');
      await sleep(1000);
      cluster.redis.signal('SIGCONT');
      return '';
    },
    judge: ({ before, after }) => findLostFrames(before, after),
  });
}

/** Returns the running server with the most sessions: at least one, if there are sessions. */
function busiest(cluster: Cluster): Place {
  return [...cluster.running].sort((a, b) => cluster.sessionsOf(b) - cluster.sessionsOf(a))[0]!;
}

/**
 * Faults of sessions that should have left one server: moves from other servers, and sessions that were taken over more
 * than once.
 */
const onlyOnceFrom = (owner: string, moves: readonly Move[]): string[] =>
  moves.flatMap(({ id, from, to, times }) =>
    from === owner && times === 1 ? [] : [`session ${id} went from ${from} to ${to}, in ${times} steps`],
  );

/** The same for sessions that should have moved to one server. */
const onlyOnceTo = (owner: string, moves: readonly Move[]): string[] =>
  moves.flatMap(({ id, from, to, times }) =>
    to === owner && times === 1 ? [] : [`session ${id} went from ${from} to ${to}, in ${times} steps`],
  );

export function describe({ event, frames, longestGapMs, retried, moves, downs, note, faults }: Outcome): string {
  const taken = moves.reduce((sum, { times }) => sum + times, 0);
  const facts = [
    `${frames} frames, longest gap ${Math.round(longestGapMs)} ms, ${retried} attempts sent again`,
    `${moves.length} sessions moved${taken === moves.length ? '' : ` in ${taken} steps`}`,
    ...(downs.length > 0 ? [`the proxy passed over ${downs.join(' and ')}`] : []),
  ];
  return [`${faults.length === 0 ? 'held  ' : 'FAILED'} ${event}: ${facts.join(', ')}`, note, ...faults]
    .filter(Boolean)
    .join('; ');
}
