import { constants, type ServerHttp2Stream } from 'node:http2';

/**
 * Resets a stream, and ends its connection if that does not take the reset within `patienceMs`. Resets go before all
 * answers, so then the client reads nothing at all, or it broke a rule of HTTP/2: after some of these Node neither
 * reads nor writes any more and tells nobody, and what the calls of the connection hold would be held until a ping goes
 * unanswered.
 *
 * @param code of HTTP/2, the reason that the client gets
 */
export function resetStream(
  stream: ServerHttp2Stream,
  patienceMs: number,
  code: number = constants.NGHTTP2_NO_ERROR,
): void {
  if (stream.destroyed) return;
  const timer = setTimeout(() => stream.session?.destroy(), patienceMs).unref();
  stream.once('close', () => clearTimeout(timer));
  stream.close(code);
}
