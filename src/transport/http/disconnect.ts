import type { FastifyReply } from 'fastify';

/**
 * A signal that is aborted when the caller hangs up before the answer is out. The request's own signal fires as soon as
 * a body was read; the response's 'close' without a finished answer is the honest sign.
 */
export function abortOnHangUp(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const raw = reply.raw;
  const onClose = () => {
    if (!raw.writableFinished) controller.abort();
  };
  if (raw.destroyed) onClose();
  else raw.once('close', onClose);
  return controller.signal;
}
