import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { ServerCredentials } from '@grpc/grpc-js';
import { IntersticeError } from '../../contract/errors.js';
import type { TlsOptions } from './options.js';

/** Server credentials whose TLS files can be replaced while the server runs. */
export class RenewableCredentials extends ServerCredentials {
  readonly #requiresClientCert: boolean;

  /** @throws INVALID_PARAMETER if client certificates are required without an authority, or TLS cannot use the files */
  constructor(tls: TlsOptions) {
    const { requireClientCert = false } = tls;
    super({ requestCert: requireClientCert, rejectUnauthorized: true }, contextOf(tls));
    this.#requiresClientCert = requireClientCert;
  }

  /**
   * Uses these files for new handshakes; open connections stay. Session tickets of earlier handshakes become invalid,
   * so that they do not admit a client of an authority that is no longer trusted.
   *
   * @throws INVALID_PARAMETER like the constructor, and for a certificate that is not valid now; nothing changes then
   */
  renew(tls: TlsOptions): CertificateFacts {
    if ((tls.requireClientCert ?? false) !== this.#requiresClientCert) {
      throw new IntersticeError(
        'INVALID_PARAMETER',
        'The requirement of client certificates cannot be changed while the server runs.',
      );
    }
    const context = contextOf(tls);
    const fault = datesFault(tls);
    if (fault) throw new IntersticeError('INVALID_PARAMETER', `TLS cannot be renewed. ${fault}`);
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
      'Client certificates are required, but there is no certificate authority to verify them.',
      { hint: 'Set the certificate of the authority that signs the certificates of clients.' },
    );
  }
  // The library's own setting. Each renewal must repeat it, because missing options fall back to those of Node.
  const ciphers = process.env.GRPC_SSL_CIPHER_SUITES;
  const context = { cert, key, ...(ca ? { ca } : {}), ...(ciphers ? { ciphers } : {}) };
  try {
    // The library reads the files only when it listens, and would report a mistake as a port in use.
    createSecureContext(context);
  } catch (cause) {
    throw new IntersticeError('INVALID_PARAMETER', `TLS cannot be set up (${(cause as Error).message}).`, {
      hint: 'The certificate and its key must be matching PEM files, the key without a pass phrase.',
      cause,
    });
  }
  readCertificates(tls);
  return context;
}

/** Public facts about the certificate in use. */
export interface CertificateFacts {
  readonly subject: string;
  readonly issuer: string;
  /** ISO 8601. */
  readonly validTo: string;
}

const BLOCK = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[\s\S]*?-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/** @throws INVALID_PARAMETER for an unreadable certificate or authority, which TLS itself would ignore */
function readCertificates({ cert, ca }: TlsOptions): CertificateFacts {
  if (ca) readAuthorities(ca);
  const own = read(cert, 'The certificate');
  const oneLine = (name: string | undefined) => (name ?? '').replaceAll('\n', ', ');
  return { subject: oneLine(own.subject), issuer: oneLine(own.issuer), validTo: new Date(own.validTo).toISOString() };
}

/** Why clients would reject these certificates now; undefined if valid. @throws like {@link readCertificates} */
export function datesFault({ cert, ca }: TlsOptions, now = new Date()): string | undefined {
  const own = read(cert, 'The certificate');
  if (new Date(own.validTo) < now) return `The certificate has expired (${own.validTo}).`;
  if (new Date(own.validFrom) > now) return `The certificate is not valid yet (from ${own.validFrom}).`;
  // A bundle may contain expired and future authorities, as long as one is valid now.
  const isNow = (one: X509Certificate) => new Date(one.validFrom) <= now && now <= new Date(one.validTo);
  if (ca && !readAuthorities(ca).some(isNow)) return 'No certificate authority for client certificates is valid now.';
  return undefined;
}

function readAuthorities(ca: Buffer): readonly X509Certificate[] {
  const blocks = ca.toString('latin1').match(BLOCK) ?? [];
  if (blocks.length === 0) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      'The file of authorities for client certificates contains no PEM certificate.',
      {
        hint: 'Correct the file that INTERSTICE_GRPC_TLS_CLIENT_CA names.',
      },
    );
  }
  return blocks.map((block, k) => read(block, `Certificate ${k + 1} of the authorities for clients`));
}

function read(pem: Buffer | string, what: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new IntersticeError('INVALID_PARAMETER', `${what} cannot be read (${(cause as Error).message}).`, {
      hint: 'Certificates are PEM files.',
      cause,
    });
  }
}
