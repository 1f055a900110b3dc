import type { PartInput } from '../contract/mesh.js';
import { quote } from '../contract/quote.js';

/** Names of parts in messages. Callers send any text as a name, and any number of parts. */

const MAX_SHOWN_CHARACTERS = 64;
const MAX_LISTED_NAMES = 8;

export function quoteName(name: string): string {
  return quote(name, MAX_SHOWN_CHARACTERS);
}

/** The first few. */
export function listNames(parts: readonly Pick<PartInput, 'name'>[]): string {
  const names = parts.slice(0, MAX_LISTED_NAMES).map(({ name }) => quoteName(name));
  return parts.length > MAX_LISTED_NAMES
    ? `${names.join(', ')} and ${parts.length - MAX_LISTED_NAMES} more`
    : names.join(', ');
}
