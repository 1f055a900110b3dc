import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** For tap's `skip`: why there are no certificates here. */
export const skipWithoutOpenssl =
  spawnSync('openssl', ['version']).status === 0 ? false : 'no openssl to make certificates with';

export interface Certificate {
  /** PEM */
  readonly cert: Buffer;
  /** PEM */
  readonly key: Buffer;
  /** paths of the two */
  readonly files: { readonly cert: string; readonly key: string };
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function openssl(...args: readonly string[]): void {
  const made = spawnSync('openssl', args, { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`openssl ${args.join(' ')}: ${made.error?.message ?? made.stderr}`);
}

function read(cert: string, key: string): Certificate {
  return { cert: readFileSync(cert), key: readFileSync(key), files: { cert, key } };
}

/** An authority, as NAME.crt and NAME.key in the folder, for a day from now. */
export function makeAuthority(folder: string, name: string): Certificate {
  const [cert, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  openssl('req', '-x509', ...KEY, '-days', '1', '-subj', `/CN=${name}`, '-keyout', key, '-out', cert);
  return read(cert, key);
}

/** A certificate for localhost that an authority signed; `days` from now, -1 for one that ended yesterday. */
export function makeCertificate(folder: string, name: string, by: Certificate, days: 1 | -1 = 1): Certificate {
  const at = (ending: string) => join(folder, `${name}.${ending}`);
  openssl('req', ...KEY, '-subj', `/CN=${name}`, '-keyout', at('key'), '-out', at('csr'));
  writeFileSync(at('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  const signer = ['-CA', by.files.cert, '-CAkey', by.files.key, '-CAcreateserial', '-days', String(days)];
  openssl('x509', '-req', '-in', at('csr'), ...signer, '-extfile', at('names'), '-out', at('crt'));
  return read(at('crt'), at('key'));
}
