/** One answer as the service saw it: its log has a line for each. */
export interface Served {
  /** OK, or the code of the refusal */
  readonly code: string;
  /** from the head of the request to the last byte of the answer */
  readonly ms: number;
}

/** The answer that a line of the service's log tells of; undefined for any other line. */
export function readServed(line: string): Served | undefined {
  if (!line.startsWith('{')) return undefined;
  const { msg, ms, code = 'OK' } = JSON.parse(line) as { msg?: string; ms?: number; code?: string };
  return msg === 'Request completed.' && ms !== undefined ? { code, ms } : undefined;
}
