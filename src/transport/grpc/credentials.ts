import { createSecureContext } from 'node:tls';
import { ServerCredentials } from '@grpc/grpc-js';
import { IntersticeError } from '../../errors.js';
import type { TlsOptions } from './options.js';

/** @throws INVALID_PARAMETER when clients must show certificates that nothing could judge, or TLS cannot use the files */
export function credentialsOf(tls: TlsOptions | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const { cert, key, ca, requireClientCert = false } = tls;
  if (requireClientCert && !ca) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      'Client certificates are required, but there is no certificate authority to judge them by.',
      { hint: 'Give the certificate of the authority that signs those of the clients.' },
    );
  }
  try {
    // The library looks at the files only when it listens, where what is wrong with them would look like a taken port.
    createSecureContext({ cert, key, ...(ca ? { ca } : {}) });
    return ServerCredentials.createSsl(ca ?? null, [{ cert_chain: cert, private_key: key }], requireClientCert);
  } catch (cause) {
    throw new IntersticeError('INVALID_PARAMETER', `TLS cannot be set up (${(cause as Error).message}).`, {
      hint: 'The certificate and its key must be PEM files that fit together, the key without a pass phrase.',
      cause,
    });
  }
}
