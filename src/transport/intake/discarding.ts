/**
 * How much of a refused body is received. If the connection were closed at once, a client that writes its whole body
 * before it reads would be reset and might not learn why; so the rest is received, but only up to a limit.
 */
export interface DiscardLimits {
  /** bytes that are still received, and dropped */
  readonly bytes: number;
  /** ms from the refusal to the end of the connection (gRPC: of the call), if the body is not complete by then */
  readonly ms: number;
}

/**
 * 32 MiB: the largest JSON body that is permitted by default. 5 s: several of the longest round trips, and a client
 * that has stopped sending needs only one to read the refusal.
 */
export const DISCARD_LIMITS: DiscardLimits = { bytes: 32 * 1024 * 1024, ms: 5000 };
