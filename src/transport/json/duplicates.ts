import { nameOf } from './scalars.js';

/**
 * Members of a JSON object with the same name. JSON.parse keeps the last one, other readers the first, so that a
 * service and a proxy before it may read different values from one request (RFC 8259, section 4). JSON.parse does not
 * report them.
 *
 * Every member is one colon outside of strings. A text without duplicates has as many colons as its value has members;
 * one with duplicates has more, because each duplicate overwrites a member. Both counts are cheap, and only a text in
 * which they differ is read again to find the place.
 */

/** A name that occurs twice in an object. */
export interface Duplicate {
  /** Path of the object and the name, as in `parameters.stepLimit`; shortened if it is long. */
  readonly path: string;
  /** Offset of the second occurrence in the text. */
  readonly offset: number;
}

/**
 * @param text valid JSON
 * @param value result of JSON.parse for it
 * @returns the first name that is repeated; undefined if none is
 */
export function findDuplicate(text: string, value: unknown): Duplicate | undefined {
  return countColons(text) === countMembers(value) ? undefined : locateDuplicate(text);
}

/** Offset after the string that begins at `start`; the end of the text if the string has none. */
export function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes++;
    // An even number of backslashes are escapes of each other, and the quote ends the string.
    if (backslashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** Counts colons outside of strings. Searching for quotes and colons skips numbers and base64 at memory speed. */
function countColons(text: string): number {
  let count = 0;
  let quote = text.indexOf('"');
  let colon = text.indexOf(':');
  while (colon !== -1) {
    if (quote !== -1 && quote < colon) {
      const end = endOfString(text, quote);
      quote = text.indexOf('"', end);
      if (colon < end) colon = text.indexOf(':', end);
    } else {
      count++;
      colon = text.indexOf(':', colon + 1);
    }
  }
  return count;
}

/** Members of all objects in a value. Uses an explicit stack, because the sender controls the depth of nesting. */
function countMembers(value: unknown): number {
  let count = 0;
  const open: object[] = [];
  const note = (one: unknown): void => {
    if (typeof one === 'object' && one !== null) open.push(one);
  };
  note(value);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      for (const item of next) if (typeof item === 'object') note(item);
    } else {
      // Objects of JSON.parse inherit nothing that can be enumerated.
      for (const name in next) {
        count++;
        note((next as Record<string, unknown>)[name]);
      }
    }
  }
  return count;
}

/** An open container at a place in the text: an object with its names so far, or an array with its current index. */
interface Level {
  readonly names: Set<string> | undefined;
  /** Name or index of the current member. */
  at: string | number;
}

/** Strings, and the characters that open, close and separate. Everything else is white space, a number or a word. */
const TOKEN = /["{}[\],]/g;

function locateDuplicate(text: string): Duplicate | undefined {
  const levels: Level[] = [];
  /** Whether the next string is a name. */
  let expectsName = false;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const level = levels.at(-1);
    switch (match[0]) {
      case '{':
        levels.push({ names: new Set(), at: '' });
        expectsName = true;
        break;
      case '[':
        levels.push({ names: undefined, at: 0 });
        expectsName = false;
        break;
      case '}':
      case ']':
        levels.pop();
        expectsName = false;
        break;
      case ',':
        if (level?.names) expectsName = true;
        else if (level) level.at = Number(level.at) + 1;
        break;
      default: {
        const end = endOfString(text, match.index);
        TOKEN.lastIndex = end;
        if (!expectsName || !level?.names) break;
        expectsName = false;
        // A name may be written with escapes.
        level.at = JSON.parse(text.slice(match.index, end)) as string;
        if (level.names.has(level.at)) return { path: pathOf(levels), offset: match.index };
        level.names.add(level.at);
      }
    }
  }
  return undefined;
}

const MAX_PATH = 200;
const MAX_LEVELS = 20;

function pathOf(levels: readonly Level[]): string {
  const path = levels
    .slice(-MAX_LEVELS)
    .reduce((outer, { at }) => (typeof at === 'number' ? `${outer}[${at}]` : nameOf(outer, at)), '');
  const isCut = levels.length > MAX_LEVELS || path.length > MAX_PATH;
  return isCut ? `…${path.slice(-MAX_PATH)}` : path;
}
