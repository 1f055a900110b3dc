import type { ElementRef } from '../contract/elements.js';
import { ERRORS, type ErrorCode, IntersticeError } from '../contract/errors.js';
import { FILE_HINT } from '../mesh/files/index.js';
import { encodeJson, type JsonObject } from '../transport/json/encode.js';
import { fromError } from '../transport/messages/answers.js';
import { UsageError } from './exit-codes.js';
import { formatPairs, formatRows } from './format.js';
import type { Terminal } from './terminal.js';
import { UnreachableError } from './unreachable.js';

const pairsShown = 5;

const formatElement = (element: ElementRef): string =>
  element.kind === 'vertex'
    ? `vertex ${element.index}`
    : `${element.kind} ${element.index} (vertices ${element.vertices.join(', ')})`;

/** Names the flags of the command line in a text that names the fields of a request. */
export type FlagNamer = (text: string) => string;

const asWritten: FlagNamer = (text) => text;

/** An error as text: what is wrong, where, and what to do. The stack is added only for debugging. */
export function describeProblem(thrown: unknown, isDebug: boolean, nameFlags = asWritten): string {
  const lines = linesOf(thrown, nameFlags);
  if (isDebug && thrown instanceof Error && thrown.stack !== undefined) {
    lines.push(thrown.stack);
    if (thrown.cause instanceof Error && thrown.cause.stack !== undefined) lines.push(`cause: ${thrown.cause.stack}`);
  }
  return lines.join('\n');
}

function linesOf(thrown: unknown, nameFlags: FlagNamer): string[] {
  if (thrown instanceof UsageError) return describeUsage(thrown, nameFlags);
  if (!(thrown instanceof UnreachableError)) return describeError(IntersticeError.from(thrown), nameFlags);
  return [`error: ${thrown.code}: ${thrown.message}`, ...formatRows([['hint', thrown.hint]])];
}

function describeUsage(error: UsageError, nameFlags: FlagNamer): string[] {
  const line = `error: ${nameFlags(error.message)}`;
  return error.command === undefined ? [line] : [line, `See interstice ${error.command} --help.`];
}

/** Some hints of the table of errors address callers of a service; at a terminal other ones apply. */
const TERMINAL_HINTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  DEADLINE_EXCEEDED:
    'Allow a larger time budget. The default of --on-budget returns the last safe state, once the start has been verified.',
  INVALID_PARAMETER: 'Use a value within the stated range, or leave it out.',
  INTERNAL: 'This is a fault of the program; INTERSTICE_DEBUG=1 shows where. Please report it.',
  MALFORMED_BODY: FILE_HINT,
};

const KEY_HINT =
  'Put the key into a file and name it with --api-key-file FILE, or into the variable INTERSTICE_API_KEY.';

function hintOf({ code, hint }: IntersticeError): string {
  // The service names the headers of a request, which a user of this program does not write.
  if (code === 'UNAUTHENTICATED') return KEY_HINT;
  return hint === ERRORS[code].hint ? (TERMINAL_HINTS[code] ?? hint) : hint;
}

function describeError(error: IntersticeError, nameFlags: FlagNamer): string[] {
  if (error.code === 'CANCELLED')
    return [`Interrupted. ${error.hint === ERRORS.CANCELLED.hint ? 'No answer was written.' : error.hint}`];
  const rows: [string, string][] = [];
  if (error.element !== undefined) rows.push(['at', formatElement(error.element)]);
  formatPairs(error.pairs, error.pairCount, pairsShown).forEach((line, index) => {
    rows.push([index === 0 ? 'pairs' : '', line]);
  });
  if (error.retryAfterSeconds !== undefined) rows.push(['retry after', `${error.retryAfterSeconds} s`]);
  rows.push(['hint', nameFlags(hintOf(error))]);
  return [`error: ${error.code}: ${nameFlags(error.message)}`, ...formatRows(rows)];
}

/** Writes an error to stderr as text and, if JSON was requested, to stdout as a problem document, with the fields of the contract. */
export function reportProblem(terminal: Terminal, thrown: unknown, isJson: boolean, nameFlags = asWritten): void {
  const isDebug = terminal.env.INTERSTICE_DEBUG === '1';
  terminal.err.write(`${describeProblem(thrown, isDebug, nameFlags)}\n`);
  if (isJson && !(thrown instanceof UsageError)) {
    terminal.out.write(`${JSON.stringify(toProblem(thrown), null, 2)}\n`);
  }
}

/** The problem document (RFC 9457) that the service would send over HTTP, so that scripts read one format. */
export function toProblem(thrown: unknown): JsonObject {
  if (thrown instanceof UnreachableError) {
    const { code, message, hint } = thrown;
    const type = `urn:interstice:error:${code}`;
    // The status that a proxy gives for a service that it cannot reach.
    return { type, title: 'Unreachable', status: 502, detail: message, code, message, hint, retryable: true };
  }
  const error = IntersticeError.from(thrown);
  const words = error.code.toLowerCase().replaceAll('_', ' ');
  return {
    type: `urn:interstice:error:${error.code}`,
    title: words.charAt(0).toUpperCase() + words.slice(1),
    status: ERRORS[error.code].http,
    detail: error.message,
    ...encodeJson('Error', fromError(error, ''), { arrays: false }),
    // A service hides the message of an unexpected failure from its callers, but this is the user's own machine.
    message: error.message,
  };
}
