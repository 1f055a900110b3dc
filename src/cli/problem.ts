import type { ElementRef } from '../contract/elements.js';
import { ERRORS, IntersticeError } from '../contract/errors.js';
import { UsageError } from './exit-codes.js';
import { formatPairs, formatRows } from './format.js';
import type { Terminal } from './terminal.js';

const pairsShown = 5;

const formatElement = (element: ElementRef): string =>
  element.kind === 'vertex'
    ? `vertex ${element.index}`
    : `${element.kind} ${element.index} (vertices ${element.vertices.join(', ')})`;

/** An error for a person: what, where, what to do. Without the stack, which helps nobody but us. */
export function describeProblem(thrown: unknown, isDebug: boolean): string {
  const lines = thrown instanceof UsageError ? describeUsage(thrown) : describeError(IntersticeError.from(thrown));
  if (isDebug && thrown instanceof Error && thrown.stack !== undefined) {
    lines.push(thrown.stack);
    if (thrown.cause instanceof Error && thrown.cause.stack !== undefined) lines.push(`cause: ${thrown.cause.stack}`);
  }
  return lines.join('\n');
}

function describeUsage(error: UsageError): string[] {
  const line = `error: ${error.message}`;
  return error.command === undefined ? [line] : [line, `See interstice ${error.command} --help.`];
}

/** The table's words speak of requests and callers; at a terminal there are none. */
function hintOf(error: IntersticeError): string {
  const isGeneric = error.code === 'INTERNAL' && error.hint === ERRORS.INTERNAL.hint;
  return isGeneric ? 'This is a fault of the program; INTERSTICE_DEBUG=1 shows where. Please report it.' : error.hint;
}

function describeError(error: IntersticeError): string[] {
  if (error.code === 'CANCELLED') return ['interrupted; no answer was written.'];
  const rows: [string, string][] = [];
  if (error.element !== undefined) rows.push(['at', formatElement(error.element)]);
  formatPairs(error.pairs, error.pairCount, pairsShown).forEach((line, index) => {
    rows.push([index === 0 ? 'pairs' : '', line]);
  });
  if (error.retryAfterSeconds !== undefined) rows.push(['retry after', `${error.retryAfterSeconds} s`]);
  rows.push(['hint', hintOf(error)]);
  return [`error: ${error.code}: ${error.message}`, ...formatRows(rows)];
}

/** Tells a person on stderr and, when JSON was asked for, a script on stdout. */
export async function reportProblem(terminal: Terminal, thrown: unknown, isJson: boolean): Promise<void> {
  const isDebug = terminal.env.INTERSTICE_DEBUG === '1';
  terminal.err.write(`${describeProblem(thrown, isDebug)}\n`);
  if (isJson && !(thrown instanceof UsageError)) {
    const { toProblem } = await import('./problem-json.js');
    terminal.out.write(`${JSON.stringify(toProblem(thrown), null, 2)}\n`);
  }
}
