import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { ServerProcess } from '../../bench/prove/server.js';
import { DOORS } from '../../src/load/doors.js';
import { runLoad } from '../../src/load/run.js';
import { makeSheets } from '../../src/load/sheets.js';

// A machine that does much else takes long.
t.setTimeout(600_000);

/** Between the five seconds that closing may take and the five minutes for which a call waits. */
const LIMIT_MS = 120_000;

const sessionsOf = async ({ address }: ServerProcess): Promise<readonly { readonly frame: string }[]> =>
  ((await (await fetch(`${address}/v1/sessions`)).json()) as { sessions: { frame: string }[] }).sessions;

const start = (): Promise<ServerProcess> =>
  ServerProcess.start({ engine: 'cpu', environment: { INTERSTICE_THREADS: '1' } });

const loadOn = ({ address, grpcAddress }: ServerProcess, signal: AbortSignal, triangles: number) =>
  DOORS.map((door) =>
    runLoad({
      ...{ door, signal, subject: makeSheets(triangles, 0.05), sessions: 1, seconds: 3600, warmUp: 0 },
      address: { http: address, grpc: grpcAddress, access: {} },
    }),
  );

const untilAllHaveStepped = async (server: ServerProcess): Promise<void> => {
  const isSo = async () => (await sessionsOf(server)).filter(({ frame }) => Number(frame) > 0).length === DOORS.length;
  while (!(await isSo())) await sleep(20);
};

t.test('an aborted load ends the steps under way and deletes its sessions', async (t) => {
  const server = await start();
  t.teardown(() => server.stop());
  const controller = new AbortController();
  const loads = loadOn(server, controller.signal, 10_000);
  await untilAllHaveStepped(server);
  controller.abort();
  const ends = await Promise.allSettled(loads);
  t.same(
    ends.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  t.same(await sessionsOf(server), []);
});

t.test('a service that answers nothing any more does not keep an aborted load', { timeout: LIMIT_MS }, async (t) => {
  const server = await start();
  t.teardown(() => server.stop());
  const controller = new AbortController();
  const loads = loadOn(server, controller.signal, 30);
  await untilAllHaveStepped(server);
  process.kill(server.pid, 'SIGSTOP');
  t.teardown(() => process.kill(server.pid, 'SIGCONT'));
  controller.abort();
  const ends = await Promise.allSettled(loads);
  t.same(
    ends.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
});
