import { type Client, type RedisOptions, type Reply, send } from './redis-client.js';

/**
 * Writes that wait for their replicas at the same time. Between processes of one site that takes a millisecond, a step takes many, so
 * this many are hardly ever under way; one more waits behind the connection with the fewest.
 */
const CONNECTIONS = 8;

interface Line {
  readonly client: Client;
  /** writes without an answer */
  pending: number;
}

/**
 * Writes that count when replicas have them. The server answers nothing else on a connection that waits for replicas, and it waits for
 * what that same connection has written: so these writes have connections of their own, and a slow replica holds up the writes that
 * wait for it, but no question and no write of another session.
 */
export class ReplicatedWrites {
  private readonly lines: readonly Line[];

  constructor(
    connect: () => Client,
    private readonly options: Pick<RedisOptions, 'replicas' | 'timeoutMs'>,
  ) {
    this.lines = Array.from({ length: CONNECTIONS }, () => ({ client: connect(), pending: 0 }));
  }

  get clients(): readonly Client[] {
    return this.lines.map(({ client }) => client);
  }

  /** Those on which a command is answered at once. */
  get idle(): readonly Client[] {
    return this.lines.filter(({ pending }) => pending === 0).map(({ client }) => client);
  }

  /** @throws what the command is refused with, and when it has fewer replicas than it must */
  async send(command: readonly (string | Buffer)[]): Promise<Reply> {
    const { replicas, timeoutMs } = this.options;
    const line = this.lines.reduce((best, one) => (one.pending < best.pending ? one : best));
    // Sent together: a connection that breaks in between loses both. On a new one, which has written nothing, the wait would be over at
    // once, whatever a server that has taken the place of the first one has.
    const wait = ['WAIT', String(replicas), String(Math.ceil(timeoutMs))];
    const answers = [send(line.client, command), send(line.client, wait)] as const;
    line.pending++;
    // A command that is refused does not end the wait behind it.
    void Promise.allSettled(answers).then(() => line.pending--);
    const [reply, count] = await Promise.all(answers);
    if (Number(count) < replicas) throw new Error(`only ${count} of ${replicas} replicas have the write`);
    return reply;
  }
}
