import { refusalOf, ServiceError } from './errors.js';
import { Handshakes } from './handshake.js';
import { RETRY_DEFAULTS, type RetryOptions, type RetryPolicy } from './retry.js';
import { askWith, type TlsFiles } from './tls.js';
import { isLittleEndian, parseAnswer } from './wire.js';

export interface ClientOptions {
  /** sent as `authorization: Bearer …` */
  readonly apiKey?: string;
  /** certificates for `https://`, where those that Node or the browser knows will not do */
  readonly tls?: TlsFiles;
  readonly retry?: RetryOptions;
  /**
   * seconds that one attempt may take, default 290: `fetch` of Node gives up after 300 s without an answer. For longer
   * steps set both this and a `fetch` that waits.
   */
  readonly timeoutSeconds?: number;
  /** default: the global one; not together with `tls` */
  readonly fetch?: typeof fetch;
}

/** What is used of a Response. */
export interface Answer extends Pick<Response, 'ok' | 'status' | 'url' | 'arrayBuffer' | 'text'> {
  /** by lower-case name */
  readonly headers: Pick<Headers, 'get'>;
}

/** What is used of `fetch`. */
export type Ask = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string | Uint8Array<ArrayBuffer>;
    readonly signal: AbortSignal;
  },
) => Promise<Answer>;

export interface Sending {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** text is JSON, bytes are bare positions */
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_SECONDS = 290;

/** One server: sends a request once and tells the answer, or why there is none, as a ServiceError. */
export class Connection {
  readonly retry: RetryPolicy;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  readonly #ask: Ask;
  /** absent: nothing is encrypted */
  readonly #handshakes: Handshakes | undefined;

  constructor(url: string, options: ClientOptions) {
    if (!isLittleEndian)
      throw new TypeError('This client needs a little-endian machine: positions travel as they lie.');
    if (!/^https?:\/\//.test(url)) throw new TypeError(`${url} is no address of the form http://host:port.`);
    this.#base = url.replace(/\/+$/, '');
    this.retry = { ...RETRY_DEFAULTS, ...options.retry };
    this.#headers = options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` };
    this.#timeoutMs = (options.timeoutSeconds ?? TIMEOUT_SECONDS) * 1000;
    const isEncrypted = url.startsWith('https:');
    if (options.tls && !isEncrypted) throw new TypeError(`tls needs an address that begins with https://, not ${url}.`);
    if (options.tls && options.fetch) throw new TypeError('Give tls or fetch, not both: a fetch has its own TLS.');
    this.#ask = options.tls ? askWith(options.tls) : (options.fetch ?? fetch);
    this.#handshakes = isEncrypted ? new Handshakes() : undefined;
  }

  /**
   * @param read takes the body of a good answer; a connection that breaks meanwhile is UNREACHABLE too
   * @throws ServiceError
   */
  async send<T>(path: string, sending: Sending, read: (answer: Answer) => Promise<T>): Promise<T> {
    const { method = 'POST', body, signal } = sending;
    const limit = AbortSignal.timeout(this.#timeoutMs);
    const contentType: Record<string, string> =
      body === undefined ? {} : { 'content-type': typeof body === 'string' ? JSON_TYPE : 'application/octet-stream' };
    try {
      const ask = this.#ask;
      const answer = await ask(`${this.#base}${path}`, {
        method,
        headers: { ...contentType, ...this.#headers, ...sending.headers },
        ...(body === undefined ? {} : { body }),
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
      this.#handshakes?.noteAnswer();
      if (!answer.ok) throw await refusalOf(answer);
      return await read(answer);
    } catch (thrown) {
      if (thrown instanceof ServiceError) throw thrown;
      throw this.#explain(thrown, { signal, limit });
    }
  }

  /** Sends JSON, or nothing, and reads JSON. @throws ServiceError */
  ask(path: string, sending: Sending): Promise<unknown> {
    return this.send(path, sending, async (answer) => parseAnswer(await answer.text()));
  }

  #explain(thrown: unknown, { signal, limit }: { signal: AbortSignal | undefined; limit: AbortSignal }): ServiceError {
    const common = { isUncertain: true, cause: thrown };
    if (signal?.aborted) {
      return new ServiceError({ ...common, code: 'CANCELLED', message: 'The caller cancelled the call.' });
    }
    if (limit.aborted) {
      return new ServiceError({
        ...common,
        code: 'TIMEOUT',
        message: `${this.#base} did not answer within ${this.#timeoutMs / 1000} s.`,
        hint: 'Set a time budget, or a longer timeoutSeconds.',
      });
    }
    if (thrown instanceof SyntaxError) {
      const message = `${this.#base} answered what is no JSON: ${thrown.message}`;
      return new ServiceError({ ...common, code: 'UNEXPECTED_ANSWER', message });
    }
    const refusal = this.#handshakes?.explain(this.#base, thrown);
    if (refusal) return refusal;
    const cause = (thrown as { cause?: { message?: string; code?: string } }).cause;
    const reason = cause?.message || cause?.code || (thrown as Error).message;
    return new ServiceError({
      ...common,
      code: 'UNREACHABLE',
      message: `${this.#base} cannot be reached, or the connection broke (${reason}).`,
      hint: this.#handshakes ? 'Is the server running, and is this its address?' : ADDRESS_HINT,
      retryable: true,
    });
  }
}

const ADDRESS_HINT = 'Is the server running, and is this its address? If it speaks TLS, that begins with https://.';
const JSON_TYPE = 'application/json';
