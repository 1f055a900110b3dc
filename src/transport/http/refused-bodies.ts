import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import fp from 'fastify-plugin';
import { DISCARD_LIMITS, type DiscardLimits } from '../intake/discarding.js';
import type { HttpOptions } from './options.js';

/**
 * Limits how much is received of a body whose request is answered before it has arrived (usually by a refusal). The
 * rest is dropped, so that a client that is still writing reads its answer and not a reset. An announced body that fits
 * into the limits leaves the connection open for the next request; otherwise it ends (`connection: close`).
 */
export const refusedBodies = fp<HttpOptions>(
  async (app, { discardLimits = DISCARD_LIMITS }) => {
    app.addHook('onSend', async ({ raw }, reply) => {
      if (raw.complete !== false) return;
      const announced = Number(raw.headers['content-length'] ?? Number.POSITIVE_INFINITY);
      if (!(announced <= discardLimits.bytes)) reply.header('connection', 'close');
      discard(raw, discardLimits);
    });
  },
  { name: 'refused-bodies' },
);

/** Drops the rest of a body, and ends its connection if the rest is too large or takes too long. */
function discard(raw: IncomingMessage, { bytes, ms }: DiscardLimits): void {
  const { socket } = raw;
  const timer = setTimeout(() => socket.destroy(), ms).unref();
  const onClose = () => clearTimeout(timer);
  const linger = holdOpen(socket);
  let left = bytes;
  raw.on('data', (chunk: Buffer) => {
    left -= chunk.byteLength;
    // From here on nothing more is received. The client has until the timer to read its answer.
    if (left < 0) raw.pause();
  });
  // An error of the connection no longer matters.
  raw.on('error', () => {}).resume();
  raw.once('end', () => {
    clearTimeout(timer);
    socket.off('close', onClose);
    linger.end();
  });
  socket.once('close', onClose);
}

/**
 * Keeps Node from closing a connection as soon as the last answer is written: unread bytes would turn the close into a
 * reset, and the client might lose the answer. Only the writing end is closed.
 */
function holdOpen(socket: Socket): { end(): void } {
  const close = socket.destroySoon;
  let isOver = false;
  socket.destroySoon = () => {
    isOver = true;
    socket.end();
  };
  return {
    end: () => {
      socket.destroySoon = close;
      if (isOver) socket.destroySoon();
    },
  };
}
