import type { ServerProcess } from '../prove/server.js';
import type { Served } from './served.js';
import type { LoadSettings } from './settings.js';
import type { Row } from './table.js';

export interface ScenarioInput {
  readonly settings: LoadSettings;
  readonly server: ServerProcess;
  /** every answer so far, as the service saw it; grows while it works */
  readonly served: readonly Served[];
  readonly tell: (line: string) => void;
}

/** One thing that was asked of the service, and whether it held. */
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
  /** everything, for the JSON */
  readonly details: unknown;
}
