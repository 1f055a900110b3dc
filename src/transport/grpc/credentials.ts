import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { ServerCredentials } from '@grpc/grpc-js';
import { IntersticeError } from '../../contract/errors.js';
import { type CertificateFacts, datesFault, readCertificates } from './certificates.js';
import type { TlsOptions } from './options.js';

/** TLS whose files can be exchanged while the server runs. */
export class RenewableCredentials extends ServerCredentials {
  readonly #demandsCertificates: boolean;

  /** @throws INVALID_PARAMETER when clients must show certificates that nothing could judge, or TLS cannot use the files */
  constructor(tls: TlsOptions) {
    const { requireClientCert = false } = tls;
    super({ requestCert: requireClientCert, rejectUnauthorized: true }, contextOf(tls));
    this.#demandsCertificates = requireClientCert;
  }

  /**
   * Handshakes from now on use these; connections that are open stay. What clients remember of an earlier handshake (session
   * tickets) is worth nothing then, so that an authority that is no longer trusted is not let in by it.
   *
   * @returns whose certificate it is
   * @throws INVALID_PARAMETER as the constructor, and for a certificate that is not valid now; nothing changes then
   */
  renew(tls: TlsOptions): CertificateFacts {
    if ((tls.requireClientCert ?? false) !== this.#demandsCertificates) {
      throw new IntersticeError('INVALID_PARAMETER', 'Whether clients must show certificates cannot change.');
    }
    const context = contextOf(tls);
    const fault = datesFault(tls);
    if (fault) throw new IntersticeError('INVALID_PARAMETER', `TLS cannot be renewed: ${fault}.`);
    this.updateSecureContextOptions(context);
    return readCertificates(tls);
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

/** @throws INVALID_PARAMETER */
function contextOf(tls: TlsOptions): SecureContextOptions {
  const { cert, key, ca, requireClientCert = false } = tls;
  if (requireClientCert && !ca) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      'Client certificates are required, but there is no certificate authority to judge them by.',
      { hint: 'Give the certificate of the authority that signs those of the clients.' },
    );
  }
  // The library's own setting. It must go with every renewal: what is not in there falls back to Node's.
  const ciphers = process.env.GRPC_SSL_CIPHER_SUITES;
  const context = { cert, key, ...(ca ? { ca } : {}), ...(ciphers ? { ciphers } : {}) };
  try {
    // The library looks at the files only when it listens, where what is wrong with them would look like a taken port.
    createSecureContext(context);
  } catch (cause) {
    throw new IntersticeError('INVALID_PARAMETER', `TLS cannot be set up (${(cause as Error).message}).`, {
      hint: 'The certificate and its key must be PEM files that fit together, the key without a pass phrase.',
      cause,
    });
  }
  readCertificates(tls);
  return context;
}
