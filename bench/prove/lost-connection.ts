/**
 * A judge at work for minutes hears nothing of its connections; the service may have given them up by then, and the first
 * request that is sent on one is lost before the service sees it. Clients send such a request again, and so does this one: a
 * frame that is sent twice is applied once, and a resolve keeps nothing. A service that has died refuses the second one too.
 */
export async function sendAgainIfLost<T>(send: () => Promise<T>, isLost: (error: unknown) => boolean): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await send();
    } catch (error) {
      if (n === ATTEMPTS || !isLost(error)) throw error;
    }
  }
}

const ATTEMPTS = 3;

/** Codes of sockets that were closed by the other side; ECONNREFUSED, nobody there, is none of them. */
const CLOSED = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/** Whether fetch failed for a connection that had been closed. */
export function isClosedSocket(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { readonly code?: string } | undefined) : undefined;
  return CLOSED.includes(cause?.code ?? '');
}

/** Whether a gRPC call failed for its connection, as its code says (UNAVAILABLE), and not by the service's own word. */
export function isLostCall(error: unknown): boolean {
  return (error as { readonly code?: number }).code === UNAVAILABLE;
}

const UNAVAILABLE = 14;
