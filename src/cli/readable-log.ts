import type { Sink } from './terminal.js';

/** Facts of every line that a person at the terminal knows already. */
const KNOWN = new Set(['level', 'time', 'msg', 'service', 'version', 'event']);

/**
 * The service's log lines for a person: "14:03:27 info  request method=POST path=/v1/resolve status=200 ms=12".
 * A line that is not JSON is passed on as it is.
 */
export function readableLine(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const { time, level, msg } = entry;
  const facts = Object.entries(entry).filter(([name]) => !KNOWN.has(name));
  const words = facts.map(([name, value]) => `${name}=${typeof value === 'string' ? value : readableValue(value)}`);
  return [String(time).slice(11, 19), String(level).padEnd(5), String(msg), ...words].join(' ');
}

/** An error is worth its message here; its stack is in the JSON log, which a pipe gets. */
function readableValue(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'stack' in value && 'message' in value) {
    return String(value.message);
  }
  return JSON.stringify(value);
}

/** A destination for the logger that writes readable lines. */
export function readableLog(sink: Sink): { write(line: string): void } {
  return { write: (line) => sink.write(`${readableLine(line.trimEnd())}\n`) };
}
