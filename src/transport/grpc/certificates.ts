import { X509Certificate } from 'node:crypto';
import { IntersticeError } from '../../contract/errors.js';
import type { TlsOptions } from './options.js';

/** What may be told of the certificate in use. */
export interface CertificateFacts {
  readonly subject: string;
  readonly issuer: string;
  /** ISO 8601 */
  readonly validTo: string;
}

const BLOCK = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[\s\S]*?-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/** @throws INVALID_PARAMETER for a certificate, or one of the authorities, that cannot be read: TLS itself would leave it out */
export function readCertificates({ cert, ca }: TlsOptions): CertificateFacts {
  if (ca) readAuthorities(ca);
  const own = read(cert, 'The certificate');
  const oneLine = (name: string | undefined) => (name ?? '').replaceAll('\n', ', ');
  return { subject: oneLine(own.subject), issuer: oneLine(own.issuer), validTo: new Date(own.validTo).toISOString() };
}

/** Why nobody would take these now, in words; undefined when they are in order. @throws as {@link readCertificates} */
export function datesFault({ cert, ca }: TlsOptions, now = new Date()): string | undefined {
  const own = read(cert, 'The certificate');
  if (new Date(own.validTo) < now) return `the certificate has expired (${own.validTo})`;
  if (new Date(own.validFrom) > now) return `the certificate is not valid yet (from ${own.validFrom})`;
  // A bundle may hold authorities of the past and of the future, as long as one is of the present.
  const isNow = (one: X509Certificate) => new Date(one.validFrom) <= now && now <= new Date(one.validTo);
  if (ca && !readAuthorities(ca).some(isNow)) return 'no authority for the certificates of clients is valid now';
  return undefined;
}

function readAuthorities(ca: Buffer): readonly X509Certificate[] {
  const blocks = ca.toString('latin1').match(BLOCK) ?? [];
  if (blocks.length === 0) {
    throw new IntersticeError('INVALID_PARAMETER', 'The authority for the certificates of clients holds none (PEM).', {
      hint: 'Correct the file that INTERSTICE_GRPC_TLS_CLIENT_CA names.',
    });
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
