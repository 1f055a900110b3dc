import type { TransportOptions } from '../common.js';
import type { HandshakeReason } from './handshakes.js';

/** PEM files of TLS. */
export interface TlsOptions {
  /** The whole certificate chain. */
  readonly cert: Buffer;
  readonly key: Buffer;
  /** Certificate authorities that sign the certificates of clients. */
  readonly ca?: Buffer;
  /** Mutual TLS: refuses connections without a certificate that `ca` signed. Default false. */
  readonly requireClientCert?: boolean;
}

export interface GrpcOptions extends TransportOptions {
  /** Absent for plain HTTP/2. */
  readonly tls?: TlsOptions;
  /** Called for every connection that fails the TLS handshake. Metrics use it. */
  readonly onTlsRefused?: ((reason: HandshakeReason) => void) | undefined;
  /** Time that a client may leave a ping unanswered, ms; default 0: no pings. */
  readonly keepaliveMs?: number;
  /** Time that the message of a unary call may take to arrive, ms; default UPLOAD_TIMEOUT_MS. */
  readonly uploadTimeoutMs?: number;
}
