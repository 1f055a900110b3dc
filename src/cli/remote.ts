import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Diagnosis } from '../contract/diagnosis.js';
import { ERRORS, type ErrorCode, IntersticeError } from '../contract/errors.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import { OPERATIONS } from '../contract/operation-table.js';
import type { OperationName } from '../contract/operations.js';
import type { Path } from '../contract/path.js';
import type { CheckAnswer, ResolveAnswer } from '../contract/requests.js';
import type { UntangledState } from '../contract/untangle-answer.js';
import { encodeJson } from '../transport/json/encode.js';
import { messageShape } from '../transport/messages/schema.js';
import { secondsToDuration } from '../transport/messages/wire-message.js';
import type { Backend } from './backend.js';
import { UsageError } from './exit-codes.js';
import { decodeAnswer } from './remote-decode.js';
import { openRemoteJobs } from './remote-jobs.js';
import { openRemoteSession } from './remote-session.js';
import { UnreachableError } from './unreachable.js';

/** Time for a connection, ms: an address behind which nothing answers would otherwise be tried for minutes. */
const CONNECT_TIMEOUT_MS = 5000;

/**
 * A running service as the operations that the commands call.
 *
 * The meshes travel as JSON with base64 arrays: bit for bit both ways, and the answer carries the whole report. (The
 * answer to a multipart upload has room only for the report's numbers, in a header, and none for pairs and warnings.)
 *
 * @param apiKey undefined for a service without keys
 * @throws UsageError if the address is not a URL
 */
export function createRemote(address: string, apiKey?: string): Backend {
  const service = { base: parseServerUrl(address), apiKey };
  return {
    async resolve(request, context) {
      const answer = await callService(service, 'resolve', request, { signal: context?.signal });
      return toResolveAnswer(answer as RemoteAnswer);
    },
    async check(request, context) {
      return (await callService(service, 'check', request, { signal: context?.signal })) as CheckAnswer;
    },
    async diagnose(request, context) {
      return (await callService(service, 'diagnose', request, { signal: context?.signal })) as Diagnosis;
    },
    async untangle(request, context) {
      const { layers, turned, maxIterations, maxDisplacement, ...rest } = request;
      const message = { ...rest, options: { layers, turned, maxIterations, maxDisplacement } };
      const answer = await callService(service, 'untangle', message, { signal: context?.signal });
      const { positions, ...same } = answer as RemoteUntangled;
      return { ...same, positions: positions.data };
    },
    openSession: (request, signal) => openRemoteSession(service, request, signal),
    jobs: openRemoteJobs(service),
    close: () => Promise.resolve(),
  };
}

/** What the request asked for besides comes as the contract has it; positions are in a message with their scalar. */
export function toResolveAnswer({ positions, path, ...rest }: RemoteAnswer): ResolveAnswer {
  return {
    ...rest,
    positions: positions.data,
    ...(path ? { path: { ...path, positions: path.positions.data } } : {}),
  };
}

interface PositionsMessage {
  readonly data: Positions;
}

type RemoteUntangled = Omit<UntangledState, 'positions'> & { readonly positions: PositionsMessage };

/** An answer with its messages of positions. */
export interface RemoteAnswer extends Omit<ResolveAnswer, 'positions' | 'path'> {
  readonly positions: PositionsMessage;
  readonly path?: Omit<Path, 'positions'> & { readonly positions: PositionsMessage };
}

export interface ServiceAddress {
  readonly base: URL;
  readonly apiKey: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Calls an operation as its row of the operation table says.
 *
 * @param options.id of the session or job, for the operations on one
 * @returns the message that the row names as its response
 */
export async function callService(
  { base, apiKey, headers }: ServiceAddress,
  name: OperationName,
  request: object,
  { signal, id = '' }: { readonly signal: AbortSignal | undefined; readonly id?: string },
): Promise<unknown> {
  const { request: message, response, httpMethod, httpPath } = OPERATIONS[name];
  const url = new URL(httpPath.slice(1).replace(':id', encodeURIComponent(id)), base);
  if (httpMethod === 'DELETE') return sendJson(url, undefined, signal, { apiKey, headers, method: httpMethod });
  const json = encodeJson(message, requestMessage(message, request), { arrays: false });
  if (httpMethod === 'GET') {
    for (const [field, value] of Object.entries(json)) url.searchParams.set(field, String(value));
    return decodeAnswer(response, await sendJson(url, undefined, signal, { apiKey, headers, method: httpMethod }));
  }
  return decodeAnswer(response, await sendJson(url, json, signal, { apiKey, headers }));
}

/** A request as its protobuf message: positions carry their scalar, and seconds become a duration. */
export function requestMessage(typeName: string, request: object): object {
  const values = request as Readonly<Record<string, unknown>>;
  const fields = messageShape(typeName).fields.map(({ jsonName, kind }) => {
    if (kind.of === 'duration') {
      const seconds = values[`${jsonName}Seconds`] as number | undefined;
      return [jsonName, seconds === undefined ? undefined : secondsToDuration(seconds)];
    }
    const value = values[jsonName];
    const isPositions = kind.of === 'message' && kind.type === 'Positions' && value !== undefined;
    if (jsonName === 'mesh' && value !== undefined) return [jsonName, meshMessage(value as MeshInput)];
    return [jsonName, isPositions ? positionsMessage(value as Positions) : value];
  });
  return Object.fromEntries(fields);
}

function meshMessage(mesh: MeshInput): object {
  const { strainLimits, restLengths } = mesh;
  const { positions } = restLengths ?? {};
  return {
    ...mesh,
    ...(strainLimits && { strainLimits: { ...strainLimits, rest: positionsMessage(strainLimits.rest) } }),
    ...(positions && { restLengths: { ...restLengths, positions: positionsMessage(positions) } }),
  };
}

const positionsMessage = (positions: Positions): object => ({
  data: positions,
  scalar: positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32',
});

/** The base of a service's paths: `http://host:8080` or behind a prefix, `https://host/collisions/`. */
export function parseServerUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(`--server needs a URL like http://127.0.0.1:8080, not "${text}".`);
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

export interface SendOptions {
  /** default POST */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly apiKey?: string | undefined;
  /** besides those of the format and the key */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** ms; default {@link CONNECT_TIMEOUT_MS} */
  readonly connectTimeoutMs?: number;
}

/**
 * Sends JSON, or a request without a body, and returns the parsed answer; {} if the service has none to give (204).
 *
 * Uses node:http, not fetch: fetch fails if an answer takes longer than five minutes to begin, and a large resolve on a CPU
 * may take longer. Only the caller's --time-budget limits the time.
 *
 * @throws the service's refusal as IntersticeError; CANCELLED if `signal` aborts; UnreachableError if there is no answer
 */
export async function sendJson(
  url: URL,
  body: object | undefined,
  signal: AbortSignal | undefined,
  options: SendOptions = {},
): Promise<unknown> {
  const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  let response: IncomingMessage;
  let text: string;
  try {
    response = await send(url, payload, signal, options);
    text = await readText(response);
  } catch (cause) {
    if (signal?.aborted === true) throw new IntersticeError('CANCELLED', 'The request was cancelled.', { cause });
    throw new UnreachableError(url.origin, cause);
  }
  const status = response.statusCode ?? 0;
  if (status === 204) return {};
  const json = parseJson(text);
  if (status < 200 || status > 299) throw refusalOf(url, status, json);
  if (json === undefined) throw notThisService(url, status, response.headers['content-type'] ?? 'no content type');
  return json;
}

function send(
  url: URL,
  payload: Buffer | undefined,
  signal: AbortSignal | undefined,
  { method = 'POST', apiKey, headers: more, connectTimeoutMs = CONNECT_TIMEOUT_MS }: SendOptions,
): Promise<IncomingMessage> {
  const headers = {
    ...more,
    ...(payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': payload.byteLength }),
    accept: 'application/json, application/problem+json',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };
  const isEncrypted = url.protocol === 'https:';
  const open = isEncrypted ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = open(url, { method, headers, ...(signal ? { signal } : {}) }, resolve);
    outgoing.on('error', reject);
    outgoing.on('socket', (socket) => {
      // A connection that was kept has nothing left to wait for.
      if (outgoing.reusedSocket) return;
      let isOpening = true;
      const late = () => {
        if (isOpening) outgoing.destroy(new Error(`no connection after ${connectTimeoutMs / 1000} s`));
      };
      // A connection that was made while this thread was busy is in time: it is seen before the immediate runs.
      const timer = setTimeout(() => setImmediate(late), connectTimeoutMs);
      // Also when the attempt has failed.
      for (const event of [isEncrypted ? 'secureConnect' : 'connect', 'close'])
        socket.once(event, () => {
          isOpening = false;
          clearTimeout(timer);
        });
    });
    outgoing.end(payload);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface RemoteError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly retryAfter?: number;
  readonly element?: { readonly kind: string; readonly index: number; readonly vertices: readonly number[] };
  readonly pairs: IntersticeError['pairs'];
  readonly pairCount: number;
  readonly frame?: bigint;
}

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

function refusalOf(url: URL, status: number, json: unknown): IntersticeError {
  const code = (json as { code?: unknown } | null | undefined)?.code;
  if (typeof code !== 'string' || !isKnown(code))
    return notThisService(url, status, 'an error that this program does not know');
  return errorOf(decodeAnswer('Error', json, 'error') as RemoteError);
}

/** A code that this program does not know, of a newer service, is INTERNAL here. */
export function errorOf(error: RemoteError): IntersticeError {
  const code = isKnown(error.code) ? error.code : 'INTERNAL';
  return new IntersticeError(code, error.message, {
    ...(error.hint === '' ? {} : { hint: error.hint }),
    ...(error.element === undefined ? {} : { element: error.element }),
    ...(error.retryAfter === undefined ? {} : { retryAfterSeconds: error.retryAfter }),
    pairs: error.pairs,
    pairCount: error.pairCount,
    ...(error.frame === undefined ? {} : { frame: error.frame }),
  });
}

const notThisService = (url: URL, status: number, what: string): IntersticeError =>
  new IntersticeError('INTERNAL', `${url.href} answered ${status} with ${what}.`, {
    hint: 'Check that the address belongs to an Interstice service.',
  });
