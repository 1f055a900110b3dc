import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Server } from '@grpc/grpc-js';
import { LineBound } from '../../observe/line-bound.js';
import type { Logger } from '../../observe/log.js';
import { addressOf } from '../intake/client-name.js';
import { connectionUnder, findsConnections, http2ServersOf } from './library-internals.js';

/** `event` of every log line about a failed handshake. */
const EVENT = 'tls-refused';

/** A handshake error of OpenSSL as Node reports it. */
type HandshakeError = Error & { readonly code?: string; readonly reason?: string };

/**
 * Reports connections that fail the TLS handshake: each one to `onRefused`, and a limited number of lines to the log.
 * Call it after the server is bound.
 *
 * @param capped connections that this server closes because of its cap
 * @returns a function that writes the pending summary to the log
 */
export function watchHandshakes(
  server: Server,
  log: Logger,
  onRefused: (reason: HandshakeReason) => void = () => {},
  capped: Pick<WeakSet<Socket>, 'has'> = new WeakSet(),
): () => void {
  const bound = new LineBound((unlogged) =>
    log.warn({ event: EVENT, unlogged }, 'More connections failed the TLS handshake.'),
  );
  const report = (reason: HandshakeReason, words: string, remote: string) => {
    onRefused(reason);
    // A probe of the port is not a refused client, and may come every few seconds.
    if (reason === 'probe') log.debug({ event: EVENT, reason, remote }, words);
    else if (bound.allows(reason)) log.warn({ event: EVENT, reason, remote }, words);
  };
  const servers = http2ServersOf(server);
  if (servers.length === 0) {
    log.warn(
      { missing: 'http2Servers' },
      'This version of @grpc/grpc-js is unknown: failed handshakes are not reported.',
    );
  }
  if (!findsConnections()) {
    log.warn(
      { missing: '_parent' },
      'This version of Node is unknown: some failed handshakes are reported without an address.',
    );
  }
  // Stored while the connection is open, because Node drops the address when it closes.
  const remotes = new WeakMap<Socket, string>();
  for (const http2Server of servers) {
    http2Server.on('connection', (connection: Socket) => {
      if (connection.remoteAddress) remotes.set(connection, addressOf(connection));
    });
    http2Server.on('tlsClientError', (error: HandshakeError, socket: TLSSocket) => {
      const connection = connectionUnder(socket);
      const { reason, words } = explainHandshake({
        code: error.code,
        words: error.reason,
        // A string despite its declared type: the error code of OpenSSL.
        certificateFault: (socket.authorizationError as unknown as string | null) ?? undefined,
        bytesIn: connection?.bytesRead,
        isCapped: connection !== undefined && capped.has(connection),
      });
      report(reason, words, (connection && remotes.get(connection)) ?? addressOf(socket));
    });
    http2Server.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol !== 'h2') report(WRONG_PROTOCOL.reason, WRONG_PROTOCOL.words, addressOf(socket));
    });
  }
  return () => bound.flush();
}

/** Why a connection failed the TLS handshake. A fixed set, because it is a label of a metric. */
export const HANDSHAKE_REASONS = [
  'no-certificate',
  'unknown-authority',
  'expired',
  'bad-certificate',
  'not-tls',
  'wrong-protocol',
  'wrong-version',
  'client-refused',
  'gave-up',
  'no-place',
  'timeout',
  'probe',
  'other',
] as const;

export type HandshakeReason = (typeof HANDSHAKE_REASONS)[number];

/** What is known about a failed handshake. */
export interface FailedHandshake {
  /** Error code of Node or OpenSSL: `ERR_SSL_...`, `ECONNRESET`. */
  readonly code: string | undefined;
  /** Text of OpenSSL, e.g. "peer did not return a certificate". */
  readonly words: string | undefined;
  /** OpenSSL's name of the error in the client's certificate. */
  readonly certificateFault: string | undefined;
  /** Bytes received from the client; undefined if unknown. */
  readonly bytesIn: number | undefined;
  /** whether this server closed the connection because of its cap */
  readonly isCapped: boolean;
}

interface Explanation {
  readonly reason: HandshakeReason;
  /** Log message. */
  readonly words: string;
}

const UNKNOWN_AUTHORITY: Explanation = {
  reason: 'unknown-authority',
  words: "The client's certificate is not signed by an authority in INTERSTICE_GRPC_TLS_CLIENT_CA.",
};
const NOT_TLS: Explanation = { reason: 'not-tls', words: 'The client does not use TLS, which this port requires.' };
const WRONG_VERSION: Explanation = {
  reason: 'wrong-version',
  words: 'The client and this server have no TLS version, or no cipher, in common.',
};

/** The line of the cap itself says which limit. */
const NO_PLACE: Explanation = {
  reason: 'no-place',
  words: 'This server closed the connection during the handshake, because its connections have reached a limit.',
};

/** A connection with TLS, but without HTTP/2. */
const WRONG_PROTOCOL: Explanation = {
  reason: 'wrong-protocol',
  words: 'The client does not offer HTTP/2 (ALPN "h2"), which gRPC requires.',
};

const FAULTS: Readonly<Record<string, Explanation>> = {
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  CERT_SIGNATURE_FAILURE: UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: { reason: 'expired', words: "The client's certificate, or that of its authority, has expired." },
  CERT_NOT_YET_VALID: {
    reason: 'expired',
    words: "The client's certificate, or that of its authority, is not valid yet.",
  },
};

const CODES: Readonly<Record<string, Explanation>> = {
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: {
    reason: 'no-certificate',
    words: 'The client sent no certificate, which INTERSTICE_GRPC_TLS_CLIENT_CA requires.',
  },
  // The bytes in place of the TLS version are those of another protocol.
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  ERR_SSL_HTTP_REQUEST: NOT_TLS,
  ERR_SSL_HTTPS_PROXY_REQUEST: NOT_TLS,
  ERR_SSL_NO_APPLICATION_PROTOCOL: WRONG_PROTOCOL,
  ERR_SSL_UNSUPPORTED_PROTOCOL: WRONG_VERSION,
  ERR_SSL_NO_SHARED_CIPHER: WRONG_VERSION,
  ERR_TLS_HANDSHAKE_TIMEOUT: { reason: 'timeout', words: 'The client did not complete the handshake in time.' },
};

/** Codes of a connection that ended without an error of OpenSSL. */
const ENDED_CODES = ['ECONNRESET', 'EPIPE', 'ECONNABORTED'];

/** The reason and a message for the log, which contains nothing that the client sent. */
export function explainHandshake(failed: FailedHandshake): Explanation {
  const { code = '', words, certificateFault, bytesIn, isCapped } = failed;
  if (isCapped) return NO_PLACE;
  // Checked first: Node closes such a connection, so its code is one of ENDED_CODES.
  if (certificateFault) {
    return (
      FAULTS[certificateFault] ?? {
        reason: 'bad-certificate',
        words: `The client's certificate is not valid (${certificateFault}).`,
      }
    );
  }
  const known = CODES[code];
  if (known) return known;
  if (code.includes('_ALERT_')) {
    return {
      reason: 'client-refused',
      words: `The client ended the handshake (${words ?? code}); it may not trust the certificate of this server.`,
    };
  }
  if (ENDED_CODES.includes(code)) {
    return bytesIn === 0
      ? { reason: 'probe', words: 'The connection was closed before the client had sent anything.' }
      : {
          reason: 'gave-up',
          words: 'The client disconnected during the handshake; it may not trust the certificate of this server.',
        };
  }
  return { reason: 'other', words: `The handshake failed (${words ?? code}).` };
}
