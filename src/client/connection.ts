import { Deadline } from './deadline.js';
import { cancelled, ServiceError } from './errors.js';
import type { RetryOptions, RetryPolicy } from './retry.js';
import { allowanceOf, authorizationOf, baseOf, policyOf, timeOf } from './settings.js';
import { ACCEPT_STREAM, type AnyListener, errorFromJson, ListenerFailed, readStreamed } from './streamed.js';
import { type Fetch, type FetchResponse, fetchWith, TlsDiagnosis, type TlsFiles } from './tls.js';
import { isLittleEndian, parseAnswer } from './wire.js';

export interface ClientOptions {
  /** sent as `authorization: Bearer …`; visible ASCII without spaces; empty = none */
  readonly apiKey?: string;
  /** certificates for `https://`, if those that Node or the browser trusts are not sufficient */
  readonly tls?: TlsFiles;
  readonly retry?: RetryOptions;
  /**
   * seconds that one attempt may take, default 290, at most 2,147,483: Node's `fetch` fails after 300 s without an
   * answer. For longer steps set both this and a `fetch` without that limit.
   */
  readonly timeoutSeconds?: number;
  /**
   * seconds that a call may take beyond its time budget and the eighth of it by which the server may be late, default
   * 30: for the way there and back
   */
  readonly allowanceSeconds?: number;
  /** default: the global one; not together with `tls` */
  readonly fetch?: typeof fetch;
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** text is JSON, bytes are raw positions */
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** what the call allows this attempt; it applies if it is shorter than the limit of the client */
  readonly limitSeconds?: number | undefined;
}

const TIMEOUT_SECONDS = 290;
const ALLOWANCE_SECONDS = 30;

/** One server. Sends a request once; a failure is a ServiceError that states the cause. */
export class Connection {
  readonly retry: RetryPolicy;
  /** that one attempt may take */
  readonly timeoutSeconds: number;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #allowanceSeconds: number;
  readonly #fetch: Fetch;
  /** undefined without encryption */
  readonly #tls: TlsDiagnosis | undefined;

  constructor(url: string, options: ClientOptions) {
    if (!isLittleEndian)
      throw new TypeError('This client needs a little-endian machine, because positions are sent in memory order.');
    this.#base = baseOf(url);
    this.retry = policyOf(options.retry);
    this.#headers = authorizationOf(options.apiKey);
    this.timeoutSeconds = timeOf('timeoutSeconds', options.timeoutSeconds ?? TIMEOUT_SECONDS);
    this.#allowanceSeconds = allowanceOf('allowanceSeconds', options.allowanceSeconds ?? ALLOWANCE_SECONDS);
    const isEncrypted = url.startsWith('https:');
    if (options.tls && !isEncrypted)
      throw new TypeError(`The option tls needs an address that begins with https://, not ${url}.`);
    if (options.tls && options.fetch)
      throw new TypeError('The options tls and fetch exclude each other: a fetch has its own TLS.');
    this.#fetch = options.tls ? fetchWith(options.tls) : (options.fetch ?? fetch);
    this.#tls = isEncrypted ? new TlsDiagnosis() : undefined;
  }

  /** Starts the time budget of a call. @throws TypeError */
  deadline(budgetSeconds: number | undefined): Deadline {
    if (budgetSeconds !== undefined) timeOf('timeBudgetSeconds', budgetSeconds);
    return new Deadline(budgetSeconds, this.#allowanceSeconds);
  }

  /**
   * @param read reads the body of a successful answer; a connection that breaks meanwhile is also UNREACHABLE
   * @throws ServiceError
   */
  async request<T>(path: string, options: RequestOptions, read: (answer: FetchResponse) => Promise<T>): Promise<T> {
    const { method = 'POST', body, signal, limitSeconds } = options;
    if (signal?.aborted) throw cancelled(signal.reason);
    const limit = AbortSignal.timeout(Math.ceil(this.#secondsWithin(limitSeconds) * 1000));
    const end = signal ? AbortSignal.any([signal, limit]) : limit;
    const contentType: Record<string, string> =
      body === undefined ? {} : { 'content-type': typeof body === 'string' ? JSON_TYPE : 'application/octet-stream' };
    const exchange = async (): Promise<T> => {
      const send = this.#fetch;
      const answer = await send(`${this.#base}${path}`, {
        method,
        headers: { ...contentType, ...this.#headers, ...options.headers },
        ...(body === undefined ? {} : { body }),
        signal: end,
      });
      this.#tls?.recordAnswer();
      if (!answer.ok) throw await readRefusal(answer);
      return read(answer);
    };
    try {
      return await endedBy(end, exchange());
    } catch (thrown) {
      if (thrown instanceof ServiceError || thrown instanceof ListenerFailed) throw thrown;
      throw this.#explain(thrown, { signal, limit, limitSeconds });
    }
  }

  /** Seconds that an attempt with this limit may take. */
  #secondsWithin(limitSeconds: number | undefined): number {
    return limitSeconds !== undefined && limitSeconds < this.timeoutSeconds ? limitSeconds : this.timeoutSeconds;
  }

  /**
   * Sends JSON, or nothing, and reads JSON.
   *
   * @param decode of the answer; what it throws means that the answer is not of this service
   * @throws ServiceError, and exceptions of a progress listener
   */
  async requestJson<T>(
    path: string,
    options: RequestOptions,
    decode: (answer: unknown) => T,
    onProgress?: AnyListener,
  ): Promise<T> {
    const answer = await this.#readJson(path, options, onProgress);
    try {
      return decode(answer);
    } catch (cause) {
      const message = `${this.#base}${path} answered JSON that is not of this service: ${(cause as Error).message}`;
      const hint = 'Is this the address of an Interstice server?';
      throw new ServiceError({ code: 'UNEXPECTED_ANSWER', message, hint, isUncertain: true, cause });
    }
  }

  async #readJson(path: string, options: RequestOptions, onProgress?: AnyListener): Promise<unknown> {
    if (!onProgress) return this.request(path, options, async (answer) => parseAnswer(await answer.text()));
    const headers = { ...options.headers, accept: ACCEPT_STREAM };
    try {
      return await this.request(path, { ...options, headers }, (answer) => readStreamed(answer, onProgress));
    } catch (thrown) {
      throw thrown instanceof ListenerFailed ? thrown.reason : thrown;
    }
  }

  #explain(
    thrown: unknown,
    { signal, limit, limitSeconds }: Pick<RequestOptions, 'signal' | 'limitSeconds'> & { readonly limit: AbortSignal },
  ): ServiceError {
    const common = { isUncertain: true, cause: thrown };
    if (signal?.aborted) return cancelled(thrown, true);
    if (limit.aborted) {
      const seconds = this.#secondsWithin(limitSeconds);
      const message = `${this.#base} did not answer within ${Number(seconds.toFixed(3))} s.`;
      const hint = hintOfLimit(limitSeconds, this.timeoutSeconds);
      return new ServiceError({ ...common, code: 'TIMEOUT', message, hint });
    }
    if (thrown instanceof SyntaxError) {
      const message = `The answer of ${this.#base} is not JSON: ${thrown.message}`;
      return new ServiceError({ ...common, code: 'UNEXPECTED_ANSWER', message });
    }
    const refusal = this.#tls?.explain(this.#base, thrown);
    if (refusal) return refusal;
    const { cause, message } = Object(thrown) as { cause?: { message?: string; code?: string }; message?: string };
    const reason = cause?.message || cause?.code || message || String(thrown);
    return new ServiceError({
      ...common,
      code: 'UNREACHABLE',
      message: `${this.#base} cannot be reached, or the connection broke (${reason}).`,
      hint: this.#tls ? 'Is the server running, and is this its address?' : ADDRESS_HINT,
      retryable: true,
    });
  }
}

/** Of a request that took too long: what can still be changed. */
const hintOfLimit = (limitSeconds: number | undefined, timeoutSeconds: number): string => {
  if (limitSeconds === undefined)
    return 'Increase timeoutSeconds. Where the call takes a time budget, a server answers within it.';
  if (timeoutSeconds < limitSeconds)
    return 'Increase timeoutSeconds, which is shorter than what the time budget allows.';
  return 'Is the server stopped or overloaded? If not, increase timeBudgetSeconds or allowanceSeconds.';
};

const ADDRESS_HINT =
  'Is the server running, and is this its address? If it uses TLS, the address begins with https://.';
const JSON_TYPE = 'application/json';
/** How the `type` of every problem document of the service begins. */
const PROBLEM_TYPES = 'urn:interstice:error:';

/** Seconds in which a `fetch` obeys its signal; one that does not is no longer waited for. */
const OBEY_SECONDS = 5;

/** The result of the work, or the reason of the signal if the work goes on although the signal is aborted. */
function endedBy<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      timer = setTimeout(() => reject(signal.reason), OBEY_SECONDS * 1000);
    };
    signal.addEventListener('abort', end, { once: true });
    const forget = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    };
    work.finally(forget).then(resolve, reject);
  });
}

/** Reads an unsuccessful answer: a problem document of the service, or anything else from a proxy. */
async function readRefusal(response: FetchResponse): Promise<ServiceError> {
  const text = await response.text();
  const retryAfterSeconds = readRetryAfter(response.headers.get('retry-after'));
  const fields = asObject(text);
  // A proxy may answer JSON with a code, too.
  if (typeof fields?.code === 'string' && String(fields.type).startsWith(PROBLEM_TYPES)) {
    return errorFromJson({ ...fields, message: String(fields.message ?? fields.detail ?? '') }, retryAfterSeconds);
  }
  // 502, 503 and 504 without a problem document come from a proxy that cannot reach the server.
  const isUnavailable = response.status >= 502 && response.status <= 504;
  return new ServiceError({
    code: isUnavailable ? 'UNREACHABLE' : 'UNEXPECTED_ANSWER',
    message: `${response.url} answered ${response.status}: ${text.slice(0, 200)}`,
    hint: 'Is this the address of an Interstice server?',
    retryable: isUnavailable,
    isUncertain: true,
    retryAfterSeconds,
  });
}

function asObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseAnswer(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Retry-After is a number of seconds or a date. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
