import type { ElementPair, ElementRef } from '../contract/elements.js';

/**
 * The data in a report of `interstice explain`: the messages of the contract in its JSON, as a caller and a service
 * would exchange them, so that the file contains the exact request and answer.
 */
export interface EmbeddedReport {
  readonly format: typeof REPORT_FORMAT;
  readonly title: string;
  /** of the program that wrote it */
  readonly version: string;
  /** the axis that points up; default z */
  readonly up?: 'y' | 'z';
  /** ResolveRequest */
  readonly request: unknown;
  /** ResolveResponse; absent if the request was refused */
  readonly response?: unknown;
  /** Error, if the request was refused */
  readonly error?: EmbeddedError;
  /** CheckResponse of start and target, as far as they were tested */
  readonly checks: { readonly start?: unknown; readonly target?: unknown };
}

/** The part of the contract's Error that the page shows. */
export interface EmbeddedError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly pairs?: readonly ElementPair[];
  readonly pairCount?: number;
  readonly element?: ElementRef;
}

export const REPORT_FORMAT = 'interstice-report-1';
/** Id of the element that holds the data. */
export const REPORT_ID = 'report-data';
/** The placeholder for the data in the page in one file. */
const DATA_MARK = '<!-- data -->';

/**
 * The page with a report in it.
 *
 * @param page the page in one file, as the build wrote it
 * @throws Error if it has no place for data
 */
export function withReport(page: string, report: EmbeddedReport): string {
  if (!page.includes(DATA_MARK)) throw new Error('The page has no place for a report.');
  // Text in the data must not end the element or begin a comment in it.
  const text = JSON.stringify(report).replaceAll('<', '\\u003c');
  return page.replace(DATA_MARK, () => `<script type="application/json" id="${REPORT_ID}">${text}</script>`);
}
