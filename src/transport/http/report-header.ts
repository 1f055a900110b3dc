import type { Report } from '../../contract/report.js';
import { fromReport } from '../answers.js';
import { encodeJson, type JsonObject } from '../json/encode.js';

/** What a header may hold by the contract, in bytes. */
export const REPORT_HEADER_BYTES = 4096;

/** The report without its lists, as one line of ASCII JSON in the names of the contract. */
export function reportHeader(report: Report): string {
  const scalars = withoutLists(encodeJson('Report', fromReport(report), { arrays: false }));
  const line = ascii(scalars);
  // Engine names come from drivers. Timings are in server-timing as well, so they give way to one that is too long.
  return line.length <= REPORT_HEADER_BYTES ? line : ascii(withoutLists({ ...scalars, timings: [] }));
}

function withoutLists(object: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    if (Array.isArray(value)) continue;
    kept[name] = typeof value === 'object' && value !== null ? withoutLists(value as JsonObject) : value;
  }
  return kept;
}

function ascii(value: JsonObject): string {
  // A code unit at a time: JSON writes characters beyond the first plane as a pair of escapes.
  return JSON.stringify(value).replace(
    /[^\u0020-\u007e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
