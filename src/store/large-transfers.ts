import { type Client, within } from './redis-client.js';

/**
 * A connection that carries fewer bytes in a millisecond counts as broken: a thousandth of what one within a site
 * carries.
 */
export const MIN_BYTES_PER_MS = 1000;

/**
 * Transfers of large values. Each has a connection to itself, and a time limit that grows with its bytes, so a slow one
 * delays no other command. A failure concerns its session only: whether the store is up shows on
 * the other connections. A connection with a failure is not used again, because a late answer may still arrive on it.
 */
export class LargeTransfers {
  private readonly all = new Set<Client>();
  private idle: Client[] = [];
  private readonly waiting: (() => void)[] = [];
  private busyCount = 0;

  /**
   * @param connections transfers at the same time; another one waits until one of them ends, and its time begins then
   * @param refuse throws if the store is down or the connections to it are closed
   */
  constructor(
    private readonly connect: () => Client,
    private readonly connections: number,
    private readonly timeoutMs: number,
    private readonly refuse: () => void,
  ) {}

  get clients(): readonly Client[] {
    return [...this.all];
  }

  /** Transfers that begin from now on have new connections; those under way end on theirs. */
  renew(): void {
    const former = this.idle;
    this.idle = [];
    for (const client of former) this.discard(client);
  }

  close(): void {
    for (const client of this.all) this.discard(client);
  }

  /** @param bytes to be sent or received @throws a refusal, what the work throws, or an error if it takes too long */
  async run<T>(bytes: number, work: (client: Client) => Promise<T>): Promise<T> {
    if (this.busyCount < this.connections) this.busyCount++;
    // The transfer that ends passes its turn on.
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    let client: Client | undefined;
    try {
      this.refuse();
      const { idle } = this;
      client = this.takeIdle() ?? (await this.open());
      const result = await within(this.timeoutMs + bytes / MIN_BYTES_PER_MS, work(client));
      if (idle === this.idle) idle.push(client);
      else this.discard(client);
      return result;
    } catch (thrown) {
      if (client) this.discard(client);
      throw thrown;
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.busyCount--;
    }
  }

  /**
   * An idle connection that has lost the server connects again in its own time, and refuses commands until then; where the
   * store is up, a new one is there sooner.
   */
  private takeIdle(): Client | undefined {
    for (let client = this.idle.pop(); client; client = this.idle.pop()) {
      if (client.isReady) return client;
      this.discard(client);
    }
    return undefined;
  }

  private async open(): Promise<Client> {
    const client = this.connect();
    this.all.add(client);
    try {
      await within(this.timeoutMs, client.connect());
      return client;
    } catch (thrown) {
      this.discard(client);
      throw thrown;
    }
  }

  private discard(client: Client): void {
    this.all.delete(client);
    if (client.isOpen) client.destroy();
  }
}
