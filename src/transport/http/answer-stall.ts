import fp from 'fastify-plugin';
import { ANSWER_STALL_MS } from '../intake/arrival.js';
import type { HttpOptions } from './options.js';

/**
 * Ends a connection whose client does not read its answer; otherwise request and answer would stay in memory
 * indefinitely. The time counts while the answer is written and none of it is sent; any progress restarts it, so a slow
 * reader is not affected.
 */
export const answerStall = fp<HttpOptions>(
  async (app, { answerStallMs = ANSWER_STALL_MS }) => {
    app.addHook('onSend', async (_request, { raw }) => {
      const { socket } = raw;
      if (!socket?.setTimeout) return;
      // Node destroys a connection whose timeout nobody handles.
      socket.setTimeout(answerStallMs);
      // When the answer has been sent, Node has already set the timeout of idle connections if it keeps this one.
      raw.once('finish', () => {
        if (socket.timeout === answerStallMs) socket.setTimeout(0);
      });
    });
  },
  { name: 'answer-stall' },
);
