import { Connection } from './connection.js';
import { type Client, type RedisOptions, type Reply, send } from './redis-client.js';

/**
 * Writes that wait for their replicas at the same time. Within one site a write takes a millisecond and a step takes
 * many, so there are hardly ever this many at a time; another one waits on the connection with the fewest.
 */
const CONNECTIONS = 8;

/**
 * Share of the time limit of a command that replicas may take. The server then still has time to tell how many have the write;
 * otherwise the failure would be that of a server that does not answer.
 */
const WAIT_SHARE = 0.8;

interface Line {
  readonly connection: Connection;
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
    this.lines = Array.from({ length: CONNECTIONS }, () => ({ connection: new Connection(connect), pending: 0 }));
  }

  get connections(): readonly Connection[] {
    return this.lines.map(({ connection }) => connection);
  }

  /** The connections on which a command is answered at once. */
  get idle(): readonly Client[] {
    return this.lines.filter(({ pending }) => pending === 0).map(({ connection }) => connection.client);
  }

  /** @throws the refusal of the command, or an error if fewer replicas than required have the write */
  async send(command: readonly (string | Buffer)[]): Promise<Reply> {
    const { replicas, timeoutMs } = this.options;
    const line = this.lines.reduce((best, one) => (one.pending < best.pending ? one : best));
    // Both are sent together, so that a connection that breaks in between loses both. On a new connection, which has
    // written nothing, WAIT would succeed at once, whatever data a server that replaced the first one has.
    const wait = ['WAIT', String(replicas), String(Math.ceil(timeoutMs * WAIT_SHARE))];
    const { client } = line.connection;
    const answers = [send(client, command), send(client, wait)] as const;
    line.pending++;
    // A command that is refused does not end the wait behind it.
    void Promise.allSettled(answers).then(() => line.pending--);
    const [reply, count] = await Promise.all(answers);
    if (Number(count) < replicas) throw new Error(`only ${count} of ${replicas} replicas have the write`);
    return reply;
  }
}
