import type { ServiceError } from '@grpc/grpc-js';
import { ERRORS, type ErrorCode, IntersticeError } from '../contract/errors.js';
import type { Report } from '../contract/report.js';
import { enumShape } from '../transport/messages/schema.js';
import { decodeMessage } from '../transport/protobuf/decode.js';
import type { Outcome } from './drive.js';
import { type Access, GrpcClient, readStep, StreamClient, timingsOf } from './grpc-client.js';
import { HttpClient, type HttpReply } from './http-client.js';
import { asBuffer, deleteMessage, type StepTerms, stepMessage } from './messages.js';

export const DOORS = ['http', 'grpc', 'stream'] as const;
export type DoorName = (typeof DOORS)[number];

/** One session of a client: a connection, a key that a proxy may hash on, and the id that the server assigned. */
export interface Seat {
  /** @throws the error that ended the connection; IntersticeError for a refusal */
  open(creation: Uint8Array): Promise<void>;
  step(target: Float32Array, terms: Pick<StepTerms, 'deadline'>): Promise<Omit<Outcome, 'session'>>;
  /** Ends the call under way, as if the connection had failed. */
  abandon(): void;
  /** Deletes the session and closes the connection; a session that cannot be deleted ends by its idle timeout. */
  close(): Promise<void>;
}

export interface SeatAddress {
  /** http:// or https://, without a slash at the end */
  readonly http: string;
  /** HOST:PORT */
  readonly grpc: string;
  readonly access: Access;
}

export const openSeat = (door: DoorName, address: SeatAddress, key: string): Seat =>
  door === 'http' ? httpSeat(address, key) : door === 'grpc' ? unarySeat(address, key) : streamSeat(address, key);

/** A request without an answer also has a code, because a load continues while a server restarts. */
const NO_ANSWER = { code: 'UNREACHABLE' } as const;

const PROTOBUF = 'application/x-protobuf';

/** Steps are bare positions, as the clients send them. */
function httpSeat({ http, access: { apiKey } }: SeatAddress, key: string): Seat {
  const client = new HttpClient(http, {
    'x-session-id': key,
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  });
  let path = '';
  return {
    async open(creation) {
      const reply = await client.post('/v1/sessions', creation, PROTOBUF, { accept: PROTOBUF });
      if (reply.status !== 201) throw refusalOf(codeIn(reply), reply.body.toString('utf8'));
      path = `/v1/sessions/${decodeMessage('Session', reply.body).id}`;
    },
    async step(target, { deadline }) {
      const terms =
        deadline === undefined
          ? {}
          : {
              'interstice-time-budget-ms': String(Math.max(1, Math.round(deadline * 1000))),
              'interstice-on-budget': 'FAIL',
            };
      const reply = await client.post(`${path}/steps`, asBuffer(target), undefined, terms).catch(() => undefined);
      if (reply === undefined) return NO_ANSWER;
      if (reply.status !== 200) return { code: codeIn(reply), retryAfter: Number(reply.headers['retry-after'] ?? 0) };
      const report = JSON.parse(String(reply.headers['interstice-report'] ?? '{}')) as Partial<Report>;
      return { code: 'OK', timings: reply.timings, status: report.status };
    },
    // The next request connects again.
    abandon: () => client.close(),
    async close() {
      if (path !== '') await client.delete(path).catch(() => undefined);
      client.close();
    },
  };
}

function unarySeat({ grpc, access }: SeatAddress, routingKey: string): Seat {
  const client = new GrpcClient(grpc, { ...access, routingKey });
  let id = '';
  return {
    async open(creation) {
      id = await create(client, creation);
    },
    abandon: () => client.cancel(),
    async step(target, terms) {
      const { code, bytes } = await client.call('Step', stepMessage(id, target, terms), id);
      if (bytes === undefined) return { code: code === UNAVAILABLE ? NO_ANSWER.code : code };
      const answer = readStep(bytes);
      return { code: 'OK', timings: timingsOf(answer), status: statusOf(answer) };
    },
    async close() {
      if (id !== '') await client.call('DeleteSession', deleteMessage(id), id);
      client.close();
    },
  };
}

/** One stream for all steps. A broken stream is opened again for the next step. */
function streamSeat({ grpc, access: shared }: SeatAddress, routingKey: string): Seat {
  const access = { ...shared, routingKey };
  const client = new GrpcClient(grpc, access);
  let id = '';
  let stream: StreamClient | undefined;
  return {
    async open(creation) {
      id = await create(client, creation);
    },
    abandon() {
      stream?.cancel();
      client.cancel();
    },
    async step(target, terms) {
      stream ??= new StreamClient(grpc, access);
      const bytes = await stream.send(stepMessage(id, target, terms)).catch(() => undefined);
      if (bytes === undefined) {
        stream.close();
        stream = undefined;
        return NO_ANSWER;
      }
      const { response, error } = decodeMessage('StepStreamResponse', bytes) as Record<string, StepMessage | undefined>;
      if (error) return { code: String(error.code) };
      return { code: 'OK', timings: timingsOf(response), status: statusOf(response) };
    },
    async close() {
      stream?.close();
      if (id !== '') await client.call('DeleteSession', deleteMessage(id), id);
      client.close();
    },
  };
}

type StepMessage = ReturnType<typeof readStep>;

function statusOf(answer: StepMessage | undefined): string | undefined {
  const { status } = (answer?.report ?? {}) as { readonly status?: number };
  return status === undefined ? undefined : enumShape('Status').byNumber.get(status);
}

/** The gRPC code of a call that did not reach a server. */
const UNAVAILABLE = 'GRPC_14';

async function create(client: GrpcClient, creation: Uint8Array): Promise<string> {
  const reply = await client.call('CreateSession', creation);
  if (reply.code === 'OK') return String(decodeMessage('Session', reply.bytes!).id);
  const { error } = reply as { readonly error: ServiceError };
  if (reply.code === UNAVAILABLE) throw error;
  throw refusalOf(reply.code, error.details);
}

/** The code of a refusal; the status of an answer that is not from the service. */
const codeIn = ({ body, status }: HttpReply): string =>
  /"code":\s*"([A-Z_]+)"/.exec(body.toString('latin1'))?.[1] ?? `HTTP_${status}`;

const refusalOf = (code: string, text: string): IntersticeError => {
  const words = /"(?:message|detail)":\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text.slice(0, 300);
  return new IntersticeError(
    Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'INTERNAL',
    `The service refused a session (${code}): ${words}`,
  );
};
