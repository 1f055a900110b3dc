import { IntersticeError } from '../../contract/errors.js';
import { MAX_FIELDS } from '../messages/wire-message.js';
import { endOfString, findDuplicate } from './duplicates.js';

/**
 * Parses JSON.
 * @param what names the text in error messages: "The body", "options"
 * @throws MALFORMED_BODY with line and column of the first invalid character, or of a repeated name; TOO_LARGE for more
 *   than {@link MAX_FIELDS} members, objects and lists
 */
export function parseJson(bytes: Uint8Array, what = 'The body'): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new IntersticeError('MALFORMED_BODY', `${what} is not valid UTF-8.`, { cause });
  }
  return parseJsonText(text, what);
}

export function parseJsonText(text: string, what = 'The body'): unknown {
  refuseCrowd(text, what);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const offset = findJsonError(text);
    const found = offset < text.length ? `unexpected ${JSON.stringify(text[offset])}` : 'it ends too early';
    throw new IntersticeError('MALFORMED_BODY', `${what} is not valid JSON: ${found} at ${placeOf(text, offset)}.`, {
      cause,
      hint: 'Send one JSON object in UTF-8; NaN, infinity, comments and trailing commas are not valid.',
    });
  }
  const duplicate = findDuplicate(text, value);
  if (!duplicate) return value;
  const { path, offset } = duplicate;
  throw new IntersticeError('MALFORMED_BODY', `${what} sets ${path} twice: again at ${placeOf(text, offset)}.`, {
    hint: 'Set every member of an object once. A name that is written with escapes is the same name.',
  });
}

/**
 * JSON.parse makes an object of every two characters `{}`, and the event loop receives each of them from the thread that
 * parses: a body within the limit of its size could fill the memory, and block every caller for a minute. Numbers in lists
 * are not counted, because they come as one array.
 */
function refuseCrowd(text: string, what: string): void {
  // Each takes a character.
  if (text.length <= MAX_FIELDS) return;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === 0x22) at = endOfString(text, at) - 1;
    else if (character === COLON || character === BRACE || character === BRACKET) count++;
    if (count > MAX_FIELDS) {
      throw new IntersticeError('TOO_LARGE', `${what} has more than ${MAX_FIELDS} members, objects and lists.`, {
        hint: 'Send bulk arrays as base64, or as flat lists of numbers.',
      });
    }
  }
}

/** The characters that begin the value of a member, an object and a list. */
const [COLON, BRACE, BRACKET] = [0x3a, 0x7b, 0x5b];

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return `line ${line}, column ${offset - before.lastIndexOf('\n')} (offset ${offset})`;
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const SPACE = /[ \t\n\r]*/y;

/**
 * Offset of the first character that cannot continue a JSON text; the length of the text if it is incomplete. V8
 * reports the position only in some of its messages. Uses an explicit stack, because the sender controls the depth of
 * nesting.
 */
export function findJsonError(text: string): number {
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  /** Avoids a regular expression, which could overflow its stack on megabytes of base64. */
  const takeString = (): boolean => {
    if (text[at] !== '"') return false;
    at++;
    for (;;) {
      const unit = text.charCodeAt(at);
      if (unit === 0x22) break;
      if (unit === 0x5c ? take(ESCAPE) : unit >= 0x20) {
        if (unit !== 0x5c) at++;
      } else return false;
    }
    at++;
    return true;
  };
  const takeCharacter = (character: string): boolean => {
    if (text[at] !== character) return false;
    at++;
    take(SPACE);
    return true;
  };
  /** Including the colon. */
  const takeKey = (): boolean => {
    if (!takeString()) return false;
    take(SPACE);
    return takeCharacter(':');
  };
  const open: string[] = [];
  take(SPACE);
  for (;;) {
    if (takeCharacter('{')) {
      if (!takeCharacter('}')) {
        open.push('}');
        if (!takeKey()) return at;
        continue;
      }
    } else if (takeCharacter('[')) {
      if (!takeCharacter(']')) {
        open.push(']');
        continue;
      }
    } else if (!takeString() && !take(NUMBER) && !take(WORD)) return at;
    take(SPACE);
    // A value is complete: close the containers that end here, then continue with the next member.
    for (;;) {
      const end = open.at(-1);
      if (end === undefined || !takeCharacter(end)) break;
      open.pop();
    }
    const end = open.at(-1);
    if (end === undefined || !takeCharacter(',')) return at;
    if (end === '}' && !takeKey()) return at;
  }
}
