/**
 * Certificates for tests, and small proxies that terminate TLS, as an operator would put in front of the HTTP server.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];

const openssl = (...args) => {
  const made = spawnSync('openssl', args, { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`openssl ${args.join(' ')}: ${made.error?.message ?? made.stderr}`);
};

/**
 * Creates two authorities, `ca` and `other-ca`, and certificates: `server` and `client`; `misnamed`, for another host;
 * `stranger`, a client of the other authority. Each is NAME.crt and NAME.key.
 */
export const makeCertificates = (folder) => {
  const at = (name) => join(folder, name);
  const authority = (name) =>
    openssl('req', '-x509', ...KEY, '-subj', `/CN=${name}`, '-keyout', at(`${name}.key`), '-out', at(`${name}.crt`));
  const certificate = (name, by, names) => {
    const request = ['-subj', `/CN=${name}`, '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`)];
    openssl('req', ...KEY.slice(0, -2), ...request);
    writeFileSync(at(`${name}.ext`), `subjectAltName=${names}\n`);
    const signer = ['-CA', at(`${by}.crt`), '-CAkey', at(`${by}.key`), '-CAcreateserial', '-days', '1'];
    openssl(
      'x509',
      '-req',
      '-in',
      at(`${name}.csr`),
      ...signer,
      '-extfile',
      at(`${name}.ext`),
      '-out',
      at(`${name}.crt`),
    );
  };
  for (const name of ['ca', 'other-ca']) authority(name);
  certificate('server', 'ca', 'DNS:localhost,IP:127.0.0.1');
  certificate('misnamed', 'ca', 'DNS:elsewhere.example');
  certificate('client', 'ca', 'DNS:client.example');
  certificate('stranger', 'other-ca', 'DNS:client.example');
};

/** @param clientCa file of an authority; if set, clients must present a certificate that it signed */
export const openTlsProxy = async ({ folder, name, to, clientCa }) => {
  const read = (file) => readFileSync(join(folder, file));
  const mutual = clientCa ? { ca: read(clientCa), requestCert: true, rejectUnauthorized: true } : {};
  const options = { cert: read(`${name}.crt`), key: read(`${name}.key`), ALPNProtocols: ['h2', 'http/1.1'], ...mutual };
  const proxy = createServer(options, (near) => {
    const far = connect(to, '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const [end, other] of [
      [near, far],
      [far, near],
    ]) {
      end.on('error', () => other.destroy());
      end.on('close', () => other.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
};
