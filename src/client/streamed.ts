import { ServiceError, type ServiceErrorFields } from './errors.js';
import { type FetchResponse, STREAM_TYPE } from './tls.js';
import { parseAnswer, readDuration } from './wire.js';

/** Reads answers that arrive line by line: progress, then the answer or an error. */

/** A server without progress sends a single answer. */
export const ACCEPT_STREAM = `${STREAM_TYPE}, application/json;q=0.5`;

/** Wraps an exception of a listener, which is not a fault of the connection. */
export class ListenerFailed extends Error {
  constructor(readonly reason: unknown) {
    super('A listener for progress has thrown.', { cause: reason });
  }
}

/** A listener for the type of progress of its operation. */
export type AnyListener = (progress: never) => void;

interface Line {
  readonly progress?: unknown;
  readonly error?: object;
  readonly response?: unknown;
}

/**
 * Reads up to the answer.
 * @throws ServiceError that the stream ends with, {@link ListenerFailed}, SyntaxError, TypeError if it ends without an
 *   answer
 */
export async function readStreamed(answer: FetchResponse, onProgress: AnyListener): Promise<unknown> {
  if (answer.headers.get('content-type')?.startsWith(STREAM_TYPE) !== true || answer.body === null)
    return parseAnswer(await answer.text());
  for await (const text of linesOf(answer.body)) {
    const line = parseAnswer(text) as Line;
    if (line.progress) tell(onProgress, line.progress);
    if (line.error) throw errorFromJson(line.error);
    if (line.response) return line.response;
  }
  throw new TypeError('the answer has ended early');
}

/** The fields of the contract's Error, whose durations are text. */
export function errorFromJson(fields: object, retryAfterSeconds?: number): ServiceError {
  const { retryAfter, ...same } = fields as ServiceErrorFields & { readonly retryAfter?: string };
  return new ServiceError({ ...same, retryAfterSeconds: retryAfterSeconds ?? readDuration(retryAfter) });
}

function tell(onProgress: AnyListener, progress: unknown): void {
  try {
    onProgress(progress as never);
  } catch (thrown) {
    throw new ListenerFailed(thrown);
  }
}

const LINE_FEED = 10;

/** The connection is ended when the reader of the lines stops early. */
async function* linesOf(body: NonNullable<FetchResponse['body']>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let isWhole = false;
  // Pieces of one line: a long line arrives in many, which are joined once.
  let pieces: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      let from = 0;
      for (let end = value!.indexOf(LINE_FEED); end >= 0; end = value!.indexOf(LINE_FEED, from)) {
        pieces.push(decoder.decode(value!.subarray(from, end), { stream: true }));
        from = end + 1;
        yield pieces.join('');
        pieces = [];
      }
      pieces.push(decoder.decode(value!.subarray(from), { stream: true }));
    }
    isWhole = true;
  } finally {
    if (!isWhole) await reader.cancel().catch(() => {});
  }
}
