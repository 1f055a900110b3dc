import type { Row } from '../../src/load/table.js';
import type { ServerProcess } from '../prove/server.js';
import type { MemoryGroup } from './memory-group.js';
import type { LoadSettings } from './settings.js';

export interface ScenarioInput {
  readonly settings: LoadSettings;
  readonly server: ServerProcess;
  /** every answer so far, as recorded by the service; grows while it works */
  readonly served: readonly Served[];
  readonly tell: (line: string) => void;
  /** the group that limits the memory of the service; undefined = none */
  readonly group?: MemoryGroup | undefined;
}

/** One requirement of the service, and whether it is met. */
export interface Verdict {
  readonly bar: string;
  readonly isMet: boolean;
  readonly measured: string;
}

export interface ScenarioResult {
  readonly scenario: string;
  /** tables to print, each with its heading */
  readonly tables: readonly { readonly heading: string; readonly rows: readonly Row[] }[];
  readonly verdicts: readonly Verdict[];
  /** all results, for the JSON */
  readonly details: unknown;
}

/** One answer as recorded by the service: its log has a line for each. */
export interface Served {
  /** OK, or the code of the refusal */
  readonly code: string;
  /** from the head of the request to the last byte of the answer */
  readonly ms: number;
}

/** Returns the answer that a line of the service's log describes; undefined for any other line. */
export function readServed(line: string): Served | undefined {
  if (!line.startsWith('{')) return undefined;
  const { msg, ms, code = 'OK' } = JSON.parse(line) as { msg?: string; ms?: number; code?: string };
  return msg === 'Request completed.' && ms !== undefined ? { code, ms } : undefined;
}
