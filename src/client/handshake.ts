import { ServiceError } from './errors.js';

/** Of a server that has never answered; one that is just starting behind a proxy does so too, but not for long. */
const CLOSED_LIMIT = 5;

interface Fault {
  readonly pattern: RegExp;
  readonly message: string;
  readonly hint: string;
}

const GIVE_CERTIFICATE =
  'If it asks its clients for certificates (mTLS): give tls.cert and tls.key, signed by the authority that the server trusts, and valid now.';

/** By the words of OpenSSL and Node, codes and messages alike. The Python and C++ clients look for the same. */
const FAULTS: readonly Fault[] = [
  {
    pattern:
      /verify_failed|unable_to_(get_(local_)?issuer|verify)|self[_-]signed|cert_(has_expired|not_yet_valid|untrusted|revoked|rejected|signature)|altname|hostname_mismatch|invalid_ca|invalid_purpose/,
    message: 'shows a certificate that this side does not trust',
    hint: 'Give the certificate of the authority that signed it as tls.ca, and call the server by a name that it holds.',
  },
  {
    pattern: /alert_.*(certificate|unknown_ca|handshake_failure|access_denied)/,
    message: 'does not take this client, for want of a certificate that it trusts',
    hint: GIVE_CERTIFICATE,
  },
  {
    pattern: /wrong_version|packet_length_too_long|unsupported_protocol|protocol_version/,
    message: 'does not speak TLS, or none that this side knows',
    hint: 'Is this the port that speaks TLS? Without it the address begins with http://.',
  },
];

/** Once the handshake is done for this side; before it a server may just be starting. */
const CLOSED = /und_err_socket|econnreset|epipe|socket_hang_up/;
const TOO_EARLY = /before_secure_tls/;

/**
 * Tells what is wrong with the certificates from a connection that merely broke.
 *
 * A server that does not take a certificate may just close the connection (Node's do), after the handshake has ended for
 * this side. Nothing tells that from a server that dies at that moment, but that it happens again and again.
 */
export class Handshakes {
  #closed = 0;
  #isAnswered = false;

  noteAnswer(): void {
    this.#isAnswered = true;
  }

  /** @returns undefined when it may be something else, and another try has a chance */
  explain(address: string, thrown: unknown): ServiceError | undefined {
    const cause = (thrown as { cause?: unknown }).cause ?? thrown;
    const { code = '', message = '' } = cause as { code?: string; message?: string };
    const words = `${code} ${message}`.toLowerCase().replaceAll(' ', '_');
    const fault = FAULTS.find(({ pattern }) => pattern.test(words));
    const refusal = (told: string, hint: string) =>
      new ServiceError({ code: 'TLS_REFUSED', message: `${address} ${told}.`, hint, cause: thrown });
    if (fault) return refusal(`${fault.message} (${code || message})`, fault.hint);
    if (this.#isAnswered || !CLOSED.test(words) || TOO_EARLY.test(words)) return undefined;
    this.#closed += 1;
    if (this.#closed < CLOSED_LIMIT) return undefined;
    return refusal(`has closed ${this.#closed} connections without an answer to any (${message})`, GIVE_CERTIFICATE);
  }
}
