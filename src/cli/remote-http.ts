import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { ERRORS, type ErrorCode, IntersticeError } from '../contract/errors.js';
import { UsageError } from './exit-codes.js';
import { decodeAnswer } from './remote-decode.js';
import { UnreachableError } from './unreachable.js';

/* Exchanges JSON over HTTP with a running service. */

/** Time for a connection, ms: an address that does not answer would otherwise be tried for minutes. */
const CONNECT_TIMEOUT_MS = 5000;

const STREAM_TYPE = 'application/x-ndjson';

/** The base of a service's paths: `http://host:8080` or behind a prefix, `https://host/collisions/`. */
export function parseServerUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:') || /[?#]/.test(text)) {
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
  /** besides application/problem+json; default application/json */
  readonly accept?: string;
  /** ms; default {@link CONNECT_TIMEOUT_MS} */
  readonly connectTimeoutMs?: number;
}

/**
 * Sends JSON, or a request without a body, and returns the parsed answer; {} if the answer has no content (204).
 *
 * Uses node:http, not fetch: fetch fails if an answer takes longer than five minutes to begin, and a large resolve on a
 * CPU may take longer. Only the caller's --time-budget limits the time.
 *
 * @throws the service's refusal as IntersticeError; CANCELLED if `signal` aborts; UnreachableError if there is no
 *   answer
 */
export async function sendJson(
  url: URL,
  body: object | undefined,
  signal: AbortSignal | undefined,
  options: SendOptions = {},
): Promise<unknown> {
  const response = await send(url, body, signal, options);
  return jsonOf(url, response, await readText(response, url, signal));
}

/** The answer that came line by line, or the single answer of a service without streams. */
export interface StreamedAnswer {
  readonly isStreamed: boolean;
  readonly value: unknown;
}

/**
 * Sends JSON and reads an answer that comes line by line.
 *
 * @param onLine receives each line, parsed, and returns the answer once it has arrived; its exceptions are rethrown
 * @throws like {@link sendJson}
 */
export async function sendForStream(
  url: URL,
  body: object,
  signal: AbortSignal | undefined,
  options: SendOptions,
  onLine: (line: unknown) => unknown,
): Promise<StreamedAnswer> {
  const accept = `${STREAM_TYPE}, application/json;q=0.5`;
  const response = await send(url, body, signal, { ...options, accept });
  if (response.headers['content-type']?.startsWith(STREAM_TYPE) !== true)
    return { isStreamed: false, value: jsonOf(url, response, await readText(response, url, signal)) };
  // Read to the end of the answer, so that its connection can serve the next request.
  let value: unknown;
  for await (const text of linesOf(piecesOf(response, url, signal))) {
    const line = parseJson(text);
    if (line === undefined) throw notThisService(url, response.statusCode ?? 0, 'a line that is no JSON');
    value ??= onLine(line);
  }
  if (value === undefined) throw new UnreachableError(url.origin, new Error('the answer has ended early'));
  return { isStreamed: true, value };
}

/** The reason why there is no answer. */
const lost = (url: URL, signal: AbortSignal | undefined, cause: unknown): Error =>
  signal?.aborted === true
    ? new IntersticeError('CANCELLED', 'The request was cancelled.', { cause })
    : new UnreachableError(url.origin, cause);

function jsonOf(url: URL, response: IncomingMessage, text: string): unknown {
  const status = response.statusCode ?? 0;
  if (status === 204) return {};
  const json = parseJson(text);
  if (status < 200 || status > 299) throw refusalOf(url, status, json);
  if (json === undefined) throw notThisService(url, status, response.headers['content-type'] ?? 'no content type');
  return json;
}

function send(
  url: URL,
  body: object | undefined,
  signal: AbortSignal | undefined,
  { method = 'POST', apiKey, headers: more, accept = 'application/json', connectTimeoutMs }: SendOptions,
): Promise<IncomingMessage> {
  const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const patience = connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  const headers = {
    ...more,
    ...(payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': payload.byteLength }),
    accept: `${accept}, application/problem+json`,
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };
  const isEncrypted = url.protocol === 'https:';
  const open = isEncrypted ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = open(url, { method, headers, ...(signal ? { signal } : {}) }, resolve);
    outgoing.on('error', (cause) => reject(lost(url, signal, cause)));
    outgoing.on('socket', (socket) => {
      // A reused connection is already open.
      if (outgoing.reusedSocket) return;
      let isOpening = true;
      const late = () => {
        if (isOpening) outgoing.destroy(new Error(`no connection after ${patience / 1000} s`));
      };
      // A connection that opened while this thread was busy counts as in time: its event comes before the immediate.
      const timer = setTimeout(() => setImmediate(late), patience);
      // A failed attempt also ends the timer.
      for (const event of [isEncrypted ? 'secureConnect' : 'connect', 'close'])
        socket.once(event, () => {
          isOpening = false;
          clearTimeout(timer);
        });
    });
    outgoing.end(payload);
  });
}

async function readText(response: IncomingMessage, url: URL, signal: AbortSignal | undefined): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of piecesOf(response, url, signal)) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

async function* piecesOf(response: IncomingMessage, url: URL, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  try {
    yield* response as AsyncIterable<Buffer>;
  } catch (cause) {
    throw lost(url, signal, cause);
  }
}

const LINE_FEED = 10;

/** A long line arrives in many pieces, which are joined once. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let pieces: Buffer[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...pieces, chunk.subarray(from, end)]).toString('utf8');
      pieces = [];
      from = end + 1;
    }
    pieces.push(chunk.subarray(from));
  }
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

/** A code of a newer service that this program does not know becomes INTERNAL. */
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
