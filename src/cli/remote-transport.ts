import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { ERRORS, type ErrorCode, IntersticeError } from '../contract/errors.js';
import { UsageError } from './exit-codes.js';
import { decodeAnswer } from './remote-decode.js';

/** The base of a service's paths: `http://host:8080` or behind a prefix, `https://host/collisions/`. */
export function parseServerUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(`--server needs a URL like http://127.0.0.1:8080, not "${text}".`);
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

/**
 * Posts JSON and gives the parsed answer.
 *
 * Plain node:http rather than fetch: fetch gives up on an answer that takes longer than five minutes to begin, and a
 * large resolve on a CPU may honestly take longer. How long is too long is the caller's --time-budget to say.
 *
 * @throws the service's own refusal as IntersticeError; CANCELLED when `signal` aborts; INTERNAL when nobody answers
 */
export async function postJson(url: URL, body: object, signal: AbortSignal | undefined): Promise<unknown> {
  const payload = Buffer.from(JSON.stringify(body));
  let response: IncomingMessage;
  let text: string;
  try {
    response = await send(url, payload, signal);
    text = await readText(response);
  } catch (cause) {
    if (signal?.aborted === true) throw new IntersticeError('CANCELLED', 'The request was cancelled.', { cause });
    throw new IntersticeError('INTERNAL', `${url.origin} does not answer: ${reasonOf(cause)}.`, {
      hint: 'Is the service running there? Start one with: interstice serve',
      cause,
    });
  }
  const status = response.statusCode ?? 0;
  const json = parseJson(text);
  if (status < 200 || status > 299) throw refusalOf(url, status, json);
  if (json === undefined) throw foreign(url, status, response.headers['content-type'] ?? 'no content type');
  return json;
}

function send(url: URL, payload: Buffer, signal: AbortSignal | undefined): Promise<IncomingMessage> {
  const headers = {
    'content-type': 'application/json',
    'content-length': payload.byteLength,
    accept: 'application/json, application/problem+json',
  };
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = open(url, { method: 'POST', headers, ...(signal ? { signal } : {}) }, resolve);
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Node reports a refused name with several addresses as one error with an empty message and the reasons inside. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? cause.message : String(cause);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface RemoteError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly retryAfter?: number;
  readonly element?: { readonly kind: string; readonly index: number; readonly vertices: readonly number[] };
  readonly pairs: IntersticeError['pairs'];
  readonly pairCount: number;
}

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

function refusalOf(url: URL, status: number, json: unknown): IntersticeError {
  const code = (json as { code?: unknown } | null | undefined)?.code;
  if (typeof code !== 'string' || !isKnown(code)) return foreign(url, status, 'no error that this program knows');
  const error = decodeAnswer('Error', json, 'error') as RemoteError;
  return new IntersticeError(code, error.message, {
    ...(error.hint === '' ? {} : { hint: error.hint }),
    ...(error.element === undefined ? {} : { element: error.element }),
    ...(error.retryAfter === undefined ? {} : { retryAfterSeconds: error.retryAfter }),
    pairs: error.pairs,
    pairCount: error.pairCount,
  });
}

const foreign = (url: URL, status: number, what: string): IntersticeError =>
  new IntersticeError('INTERNAL', `${url.href} answered ${status} with ${what}.`, {
    hint: 'Check that the address belongs to an Interstice service.',
  });
