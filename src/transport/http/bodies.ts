import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { IntersticeError } from '../../contract/errors.js';
import { Arrival } from '../intake/arrival.js';
import type { BodyAccount } from '../intake/body-ledger.js';
import { clientName } from '../intake/client-name.js';
import { signalOf } from './call-context.js';
import { bodyLimitOf, tooLargeBody } from './errors.js';
import type { HttpOptions } from './options.js';

/** The bodies of requests: charged to the ledger before they are kept, and read into memory that nothing else uses. */

const arrivals = new WeakMap<IncomingMessage, Arrival>();
const accounts = new WeakMap<IncomingMessage, BodyAccount>();

/** The arrival of the request's body; undefined for a request without a body. */
export const arrivalOf = (request: FastifyRequest): Arrival | undefined => arrivals.get(request.raw);

/**
 * Waits until there is room for the answer to a request; it is released with the answer. The body is no longer needed
 * by then.
 * @param bytes of the encoded answer
 * @throws QUEUE_FULL if there is no room for a while
 */
export async function roomForAnswer(reply: FastifyReply, bytes: number): Promise<void> {
  const { request } = reply;
  request.body = undefined;
  await accounts.get(request.raw)?.growToAnswer(bytes, signalOf(reply));
}

/**
 * Refuses a body for which there is no room, or that exceeds its limit, before it is read and before
 * `expect: 100-continue` is answered. The charge of a body, as announced or as it arrives, is released with the answer.
 */
export const bodies = fp<HttpOptions>(
  async (app, options) => {
    app.addHook('preParsing', async (request, reply) => {
      const { raw } = request;
      const announced = Number(raw.headers['content-length'] ?? 0);
      if (hasBody(raw) && announced > bodyLimitOf(raw.headers, options)) throw tooLargeBody(raw.headers, options);
      const account = options.bodies.open(clientName(request.caller, raw.socket.remoteAddress));
      accounts.set(raw, account);
      reply.raw.once('close', () => account.release());
      if (!hasBody(raw)) return;
      account.growTo(announced);
      arrivals.set(raw, new Arrival(account, options.arrivalTimes));
    });
  },
  { name: 'bodies', dependencies: ['errors'] },
);

/** Fastify does not read the body of a GET. */
const hasBody = ({ method, headers }: IncomingMessage): boolean =>
  method !== 'GET' &&
  method !== 'HEAD' &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

/**
 * Reads the body of a request as a whole. If a body is refused while it arrives, its rest is discarded, so that a
 * caller who is still writing reads the refusal.
 *
 * @returns memory without other owners; a body of an announced size is written there as it arrives
 * @throws TOO_LARGE, QUEUE_FULL, MALFORMED_BODY (it stalls, or is not as long as announced), and the errors of the
 *   connection
 */
export function readBody(
  request: FastifyRequest,
  payload: NodeJS.ReadableStream,
  options: HttpOptions,
): Promise<Buffer> {
  const { headers } = request.raw;
  const arrival = arrivalOf(request);
  const limit = bodyLimitOf(headers, options);
  const announced = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
  const parts = new BodyParts(announced);
  return new Promise((resolve, reject) => {
    const end = () => {
      arrival?.end();
      payload.off('data', onData).off('end', onEnd).off('error', onError);
    };
    const onError = (reason: Error) => {
      end();
      reject(reason);
    };
    const refuse = (reason: IntersticeError) => {
      onError(reason);
      parts.clear();
      // Discarded; a later error of the connection no longer matters.
      payload.on('error', () => {}).resume();
    };
    const onData = (chunk: Buffer) => {
      try {
        arrival?.receive(chunk.byteLength);
        if (parts.byteLength + chunk.byteLength > limit) throw tooLargeBody(headers, options);
        parts.add(chunk);
      } catch (reason) {
        refuse(reason as IntersticeError);
      }
    };
    const onEnd = () => {
      end();
      resolve(parts.whole());
    };
    arrival?.start(refuse);
    payload.on('data', onData).on('end', onEnd).on('error', onError).resume();
  });
}

/** The chunks of a body. If the size is known they are written to one buffer, so that there is never a second copy. */
class BodyParts {
  byteLength = 0;
  private target: Buffer | undefined;
  private chunks: Buffer[] = [];

  constructor(private readonly announced: number | undefined) {}

  add(chunk: Buffer): void {
    const { announced } = this;
    if (announced !== undefined && this.byteLength + chunk.byteLength <= announced) {
      // The system provides the pages of a large buffer only when they are written to.
      this.target ??= Buffer.alloc(announced);
      this.target.set(chunk, this.byteLength);
    } else this.chunks.push(chunk);
    this.byteLength += chunk.byteLength;
  }

  /** Discards everything. */
  clear(): void {
    this.target = undefined;
    this.chunks = [];
  }

  whole(): Buffer {
    const { target, byteLength } = this;
    const start = target?.subarray(0, byteLength);
    if (start && this.chunks.length === 0) return start;
    return Buffer.concat(start ? [start, ...this.chunks] : this.chunks);
  }
}
