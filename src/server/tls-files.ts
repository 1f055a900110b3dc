import { readFileSync } from 'node:fs';
import type { TlsFiles } from '../config/config.js';
import { IntersticeError } from '../contract/errors.js';
import type { TlsOptions } from '../transport/grpc/options.js';

/** @throws INVALID_PARAMETER that names the file */
export function readTlsFiles({ cert, key, clientCa }: TlsFiles): TlsOptions {
  const files = { cert: read(cert), key: read(key) };
  return clientCa === undefined ? files : { ...files, ca: read(clientCa), requireClientCert: true };
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The TLS file ${path} cannot be read (${(cause as NodeJS.ErrnoException).code ?? cause}).`,
      { cause, hint: 'Correct INTERSTICE_GRPC_TLS_CERT, _KEY or _CLIENT_CA.' },
    );
  }
}
