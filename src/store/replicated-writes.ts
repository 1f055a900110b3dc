import { type Client, type RedisOptions, type Reply, send } from './redis-client.js';

/**
 * Writes that wait for their replicas at the same time. Within one site a write takes a millisecond and a step takes
 * many, so there are hardly ever this many at a time; another one waits on the connection with the fewest.
 */
const CONNECTIONS = 8;

interface Line {
  readonly client: Client;
  /** writes without an answer */
  pending: number;
}

/**
 * Writes that are accepted only when replicas have them. The server answers nothing else on a connection that waits for
 * replicas, and it waits for what that same connection has written. So these writes have separate connections, and a
 * slow replica delays the writes that wait for it, but no reads and no writes on other connections.
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

  /** The connections on which a command is answered at once. */
  get idle(): readonly Client[] {
    return this.lines.filter(({ pending }) => pending === 0).map(({ client }) => client);
  }

  /** @throws the refusal of the command, or an error if fewer replicas than required have the write */
  async send(command: readonly (string | Buffer)[]): Promise<Reply> {
    const { replicas, timeoutMs } = this.options;
    const line = this.lines.reduce((best, one) => (one.pending < best.pending ? one : best));
    // Both are sent together, so that a connection that breaks in between loses both. On a new connection, which has
    // written nothing, WAIT would succeed at once, whatever data a server that replaced the first one has.
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
