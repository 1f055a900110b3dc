import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** One for all who ask about an answer: every listener on it is one too many when there are a dozen. */
const signals = new WeakMap<ServerResponse, AbortSignal>();

/**
 * A signal that is aborted when the caller hangs up before the answer is out. The request's own signal fires as soon as
 * a body was read; the response's 'close' without a finished answer is the honest sign.
 */
export function abortOnHangUp(reply: FastifyReply): AbortSignal {
  const raw = reply.raw;
  const known = signals.get(raw);
  if (known) return known;
  const controller = new AbortController();
  signals.set(raw, controller.signal);
  const onClose = () => {
    if (!raw.writableFinished) controller.abort();
  };
  if (raw.destroyed) onClose();
  else raw.once('close', onClose);
  return controller.signal;
}
