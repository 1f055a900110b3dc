/** A service gave no answer: nothing listens there, or the connection failed. The clients use the same code. */
export class UnreachableError extends Error {
  readonly code = 'UNREACHABLE';
  readonly hint: string;

  /** @param hint if nothing better is known; default: how to start a service */
  constructor(origin: string, cause: unknown, hint = 'Is the service running there? Start one with: interstice serve') {
    const failure = firstOf(cause);
    const known = KNOWN.find(({ codes }) => codes.test(codeOf(failure)));
    const reason = known?.reason ?? (failure instanceof Error ? failure.message : String(failure));
    super(`${origin} does not answer: ${reason}.`, { cause });
    this.name = 'UnreachableError';
    this.hint = known?.hint ?? hint;
  }
}

/** Failures behind which something listens, by the codes of Node; without a reason, the message of Node tells it. */
const KNOWN: readonly { readonly codes: RegExp; readonly reason?: string; readonly hint: string }[] = [
  {
    codes: /^EPROTO$/,
    reason: 'that port does not speak TLS',
    hint: 'Write http://, or name the proxy that encrypts for the service.',
  },
  {
    codes: /^HPE_/,
    reason: 'that port does not speak HTTP',
    hint: 'Name the HTTP port of the service, 8080 by default; 50051 is its gRPC port.',
  },
  {
    codes: /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_)/,
    hint: 'This program does not accept the certificate. If an authority of your own has signed it, name its file in the environment: NODE_EXTRA_CA_CERTS=ca.crt',
  },
];

/** For a name with several addresses, Node reports one error without a message that contains one error per address. */
const firstOf = (cause: unknown): unknown =>
  cause instanceof AggregateError && cause.errors.length > 0 ? firstOf(cause.errors[0]) : cause;

const codeOf = (failure: unknown): string => String((failure as NodeJS.ErrnoException | null)?.code ?? '');
