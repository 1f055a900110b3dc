import { readFileSync } from 'node:fs';
import { IntersticeError } from '../contract/errors.js';
import { SETTINGS } from './settings.js';

/** Values by name, written as in the environment. */
export type FileSettings = Readonly<Record<string, string>>;

/**
 * Reads a settings file: a JSON object, or lines of NAME=value, where # begins a comment line and quotes around a value are
 * removed.
 *
 * @param known every valid name; any other name is a problem, because nothing but these settings belongs into the file
 * @param flags the names of settings that are 0 or 1: only these can be true or false, as 0 is a port or a limit elsewhere
 * @returns the settings, and the problems of the file, one sentence each
 * @throws INVALID_PARAMETER if the file cannot be read
 */
export function readSettingsFile(
  path: string,
  known: ReadonlySet<string>,
  flags: ReadonlySet<string>,
): { values: FileSettings; problems: string[] } {
  let content: string;
  try {
    content = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `INTERSTICE_CONFIG names ${path}, which cannot be read (${(cause as NodeJS.ErrnoException).code ?? cause}).`,
      { cause, hint: 'Correct the path, or unset INTERSTICE_CONFIG.' },
    );
  }
  const problems: string[] = [];
  const values: Record<string, string> = {};
  const entries = content.trimStart().startsWith('{') ? fromJson(content, problems) : fromLines(content, problems);
  for (const { name, value, place, isBoolean } of entries) {
    if (name === SETTINGS.config.name) problems.push(`${place}: a settings file cannot name another one.`);
    else if (!known.has(name)) problems.push(`${place}: there is no setting ${name}.`);
    else if (isBoolean && !flags.has(name))
      problems.push(
        `${place}: ${name} cannot be true or false, as only settings of 0 or 1 can; write a string or a number.`,
      );
    else if (name in values) problems.push(`${place}: ${name} is set twice.`);
    else values[name] = value;
  }
  return { values, problems: problems.map((problem) => `${path}, ${problem}`) };
}

interface Entry {
  readonly name: string;
  readonly value: string;
  /** for messages */
  readonly place: string;
  /** written as true or false */
  readonly isBoolean?: boolean;
}

function fromLines(content: string, problems: string[]): Entry[] {
  return content.split(/\r?\n/).flatMap((line, index): Entry[] => {
    const place = `line ${index + 1}`;
    if (/^\s*(#|$)/.test(line)) return [];
    const match = /^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line);
    if (!match) {
      problems.push(`${place}: expected NAME=value, or a comment that begins with #.`);
      return [];
    }
    const [, name = '', given = ''] = match;
    return [{ name, value: /^(["']).*\1$/.test(given) && given.length > 1 ? given.slice(1, -1) : given, place }];
  });
}

function fromJson(content: string, problems: string[]): Entry[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch (error) {
    problems.push(`the file begins like JSON but is not valid JSON (${(error as Error).message}).`);
    return [];
  }
  for (const name of repeatedNames(content)) problems.push(`its object: ${name} is set twice.`);
  return Object.entries(parsed as object).flatMap(([name, value]): Entry[] => {
    const place = 'its object';
    if (typeof value === 'boolean') return [{ name, value: value ? '1' : '0', place, isBoolean: true }];
    if (typeof value === 'string' || typeof value === 'number') return [{ name, value: String(value), place }];
    problems.push(`${place}: ${name} must be a string, a number, true or false.`);
    return [];
  });
}

/** JSON.parse keeps the last of several members with one name. @param content a valid object without objects in it */
function repeatedNames(content: string): ReadonlySet<string> {
  const names = [...content.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?/g)].flatMap(([, text = '', colon]): string[] =>
    colon === undefined ? [] : [JSON.parse(text) as string],
  );
  return new Set(names.filter((name, index) => names.indexOf(name) < index));
}
