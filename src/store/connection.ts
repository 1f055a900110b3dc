import { type Client, within } from './redis-client.js';

/** A connection to the store that can be replaced by a new one. */
export class Connection {
  private readonly all = new Set<Client>();
  private used: Client;
  private isClosed = false;

  constructor(private readonly connect: () => Client) {
    this.used = this.add();
  }

  get client(): Client {
    return this.used;
  }

  async open(): Promise<void> {
    await this.used.connect();
  }

  /**
   * Replaces the connection by one that leads to where the address leads now. Commands that still have no answer on the former
   * one fail.
   *
   * @throws if no new connection comes about in time; the former one then remains. Also if it was closed
   */
  async renew(timeoutMs: number): Promise<void> {
    if (this.isClosed) throw new Error('The connection is closed.');
    const next = this.add();
    try {
      await within(timeoutMs, next.connect());
    } catch (thrown) {
      this.remove(next);
      throw thrown;
    }
    if (this.isClosed) return this.remove(next);
    const former = this.used;
    this.used = next;
    this.remove(former);
  }

  close(): void {
    this.isClosed = true;
    for (const client of this.all) this.remove(client);
  }

  private add(): Client {
    const client = this.connect();
    this.all.add(client);
    return client;
  }

  private remove(client: Client): void {
    this.all.delete(client);
    if (client.isOpen) client.destroy();
  }
}
