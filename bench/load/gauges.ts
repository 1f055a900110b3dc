import { setTimeout as wait } from 'node:timers/promises';
import { readMetric } from '../../src/load/metrics-page.js';
import type { ServerProcess } from '../prove/server.js';

/** The resources that the service holds at one moment. */
export interface Holdings {
  readonly rssBytes: number;
  readonly deviceBytes: number;
  readonly hostBytes: number;
  readonly sessions: number;
  readonly waiting: number;
  readonly running: number;
  readonly inFlight: number;
}

/** Reads them from the admin port and the operating system. */
export async function readHoldings(server: ServerProcess): Promise<Holdings> {
  const response = await fetch(`${server.adminAddress}/metrics`);
  const page = await response.text();
  const of = (name: string) => readMetric(page, `interstice_${name}`);
  return {
    rssBytes: server.residentBytes() ?? of('process_resident_memory_bytes'),
    deviceBytes: of('device_bytes'),
    hostBytes: of('host_bytes'),
    sessions: of('sessions'),
    waiting: of('queue_waiting'),
    running: of('jobs_running'),
    inFlight: of('requests_in_flight'),
  };
}

/** ms between two readings */
const LOOK_MS = 500;
/** Readings before work that still runs counts as left behind: two minutes in all, more than any request may take. */
const LOOKS = 240;

/** Waits until nothing waits, runs or is in flight, and returns the resources then held. */
export async function settleHoldings(server: ServerProcess): Promise<Holdings> {
  let holdings = await readHoldings(server);
  for (let look = 0; look < LOOKS && holdings.waiting + holdings.running + holdings.inFlight > 0; look++) {
    await wait(LOOK_MS);
    holdings = await readHoldings(server);
  }
  return holdings;
}

/** Observes the resources of a service until it is stopped, and keeps the maximum of each. */
export class HoldingsWatch {
  #most: Holdings | undefined;
  #timer: NodeJS.Timeout;
  #look: Promise<void> = Promise.resolve();

  constructor(private readonly server: ServerProcess) {
    this.#timer = setInterval(() => {
      this.#look = this.#look.then(() => this.#note());
    }, LOOK_MS);
  }

  async stop(): Promise<Holdings> {
    clearInterval(this.#timer);
    await this.#look;
    await this.#note();
    return this.#most!;
  }

  async #note(): Promise<void> {
    const now = await readHoldings(this.server);
    const most = this.#most ?? now;
    this.#most = Object.fromEntries(
      Object.entries(now).map(([name, value]) => [name, Math.max(value, most[name as keyof Holdings])]),
    ) as unknown as Holdings;
  }
}
