import type { Report, Timings } from '../../contract/report.js';
import { encodeJson, type JsonObject } from '../json/encode.js';

/** Largest value of the `interstice-report` header by the contract, bytes. */
const REPORT_HEADER_BYTES = 4096;

/** Value of the `server-timing` header: milliseconds, from microseconds. */
export function serverTiming(timings: Partial<Timings>): string {
  return Object.entries(timings)
    .map(([stage, microseconds]) => `${stage};dur=${(microseconds / 1000).toFixed(3)}`)
    .join(', ');
}

/** Value of the `interstice-report` header: the report without its lists, as one line of JSON in ASCII. */
export function reportHeader(report: Report): string {
  const scalars = withoutLists(encodeJson('Report', report, { arrays: false }));
  const line = ascii(scalars);
  // Engine names come from drivers and may be long. Then the timings are omitted; server-timing contains them too.
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
  // Each UTF-16 code unit separately: JSON writes characters beyond the first plane as two escapes.
  return JSON.stringify(value).replace(
    /[^\u0020-\u007e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
