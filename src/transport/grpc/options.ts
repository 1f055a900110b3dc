import type { Caller } from '../../contract/call-context.js';
import type { Operations } from '../../contract/operations.js';
import type { Logger, RequestLine } from '../../observe/log.js';
import type { ServiceState } from '../http/state.js';
import type { HandshakeReason } from './handshake-reasons.js';

/** Reads a header (metadata) of a call by its lower-case name. */
export type ReadHeader = (name: string) => string | undefined;

export interface TlsOptions {
  /** PEM, the whole chain */
  readonly cert: Buffer;
  /** PEM */
  readonly key: Buffer;
  /** PEM; who signs the certificates of clients */
  readonly ca?: Buffer;
  /** mutual TLS: a connection without a certificate that `ca` signed is refused; default false */
  readonly requireClientCert?: boolean;
}

/** What the gRPC door is given. */
export interface GrpcOptions {
  readonly operations: Operations;
  readonly state: ServiceState;
  /** largest message, in bytes, before and after decompression */
  readonly maxMessageBytes: number;
  readonly log: Logger;
  /** Who calls; throws UNAUTHENTICATED. Absent: everybody is welcome. */
  readonly authenticate?: (header: ReadHeader) => Caller;
  /** told of every answer, refusals at the door included: for metrics */
  readonly onAnswered?: ((line: RequestLine) => void) | undefined;
  /** absent: plain HTTP/2 */
  readonly tls?: TlsOptions;
  /** told of every connection that does not get through TLS: for metrics */
  readonly onTlsRefused?: ((reason: HandshakeReason) => void) | undefined;
  /** how long the one message of a unary call may take to arrive, ms; default {@link UPLOAD_TIMEOUT_MS} */
  readonly uploadTimeoutMs?: number;
}

/** As long as the HTTP door waits for a body: one that trickles in must not hold a place for ever. */
export const UPLOAD_TIMEOUT_MS = 300_000;
