/** Why a connection did not get through TLS. A label of the metrics, so there are few and no client can make more. */
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
  'timeout',
  'probe',
  'other',
] as const;

export type HandshakeReason = (typeof HANDSHAKE_REASONS)[number];

/** What is known of a handshake that failed. */
export interface FailedHandshake {
  /** of Node or OpenSSL: `ERR_SSL_...`, `ECONNRESET` */
  readonly code: string | undefined;
  /** OpenSSL's own words, as in "peer did not return a certificate" */
  readonly words: string | undefined;
  /** what is wrong with the certificate of the client, by OpenSSL's name */
  readonly certificateFault: string | undefined;
  /** that have come from the client; undefined when it cannot be told */
  readonly bytesIn: number | undefined;
}

interface Explanation {
  readonly reason: HandshakeReason;
  /** for whoever reads the log */
  readonly words: string;
}

const UNKNOWN_AUTHORITY: Explanation = {
  reason: 'unknown-authority',
  words: "the client's certificate is not signed by the authority of INTERSTICE_GRPC_TLS_CLIENT_CA",
};
const NOT_TLS: Explanation = { reason: 'not-tls', words: 'the client does not speak TLS, and this port only does' };
const WRONG_VERSION: Explanation = {
  reason: 'wrong-version',
  words: 'the client and this server have no version of TLS, or no cipher, in common',
};

/** A connection that speaks TLS, but not HTTP/2 in it. */
export const WRONG_PROTOCOL: Explanation = {
  reason: 'wrong-protocol',
  words: 'the client does not offer HTTP/2 (ALPN "h2"), which gRPC is spoken in',
};

const FAULTS: Readonly<Record<string, Explanation>> = {
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  CERT_SIGNATURE_FAILURE: UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: { reason: 'expired', words: "the client's certificate, or its authority's, has expired" },
  CERT_NOT_YET_VALID: { reason: 'expired', words: "the client's certificate, or its authority's, is not valid yet" },
};

const CODES: Readonly<Record<string, Explanation>> = {
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: {
    reason: 'no-certificate',
    words: 'the client shows no certificate, and every client must (INTERSTICE_GRPC_TLS_CLIENT_CA)',
  },
  // What stands where a version of TLS would: the first letters of something else.
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  ERR_SSL_HTTP_REQUEST: NOT_TLS,
  ERR_SSL_HTTPS_PROXY_REQUEST: NOT_TLS,
  ERR_SSL_NO_APPLICATION_PROTOCOL: WRONG_PROTOCOL,
  ERR_SSL_UNSUPPORTED_PROTOCOL: WRONG_VERSION,
  ERR_SSL_NO_SHARED_CIPHER: WRONG_VERSION,
  ERR_TLS_HANDSHAKE_TIMEOUT: { reason: 'timeout', words: 'the client did not finish the handshake in time' },
};

/** Codes of a connection that ended without a word of OpenSSL's. */
const ENDED = ['ECONNRESET', 'EPIPE', 'ECONNABORTED'];

/** In words that have nothing of what the client sent in them. */
export function explainHandshake({ code = '', words, certificateFault, bytesIn }: FailedHandshake): Explanation {
  // Node ends such a connection itself, so its code is that of one that ended.
  if (certificateFault) {
    return (
      FAULTS[certificateFault] ?? {
        reason: 'bad-certificate',
        words: `the client's certificate is not valid (${certificateFault})`,
      }
    );
  }
  const known = CODES[code];
  if (known) return known;
  if (code.includes('_ALERT_')) {
    return {
      reason: 'client-refused',
      words: `the client ended the handshake (${words ?? code}): it may not trust the certificate of this server`,
    };
  }
  if (ENDED.includes(code)) {
    return bytesIn === 0
      ? { reason: 'probe', words: 'the connection was closed before the client had said anything' }
      : {
          reason: 'gave-up',
          words: 'the client went away during the handshake: it may not trust the certificate of this server',
        };
  }
  return { reason: 'other', words: `the handshake failed (${words ?? code})` };
}
