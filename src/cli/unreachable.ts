/** A service gave no answer: nothing listens there, or the connection failed. The clients use the same code. */
export class UnreachableError extends Error {
  readonly code = 'UNREACHABLE';
  readonly hint = 'Is the service running there? Start one with: interstice serve';

  constructor(origin: string, cause: unknown) {
    super(`${origin} does not answer: ${reasonOf(cause)}.`, { cause });
    this.name = 'UnreachableError';
  }
}

/** For a name with several addresses, Node reports one error without a message that contains one error per address. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? cause.message : String(cause);
}
