import { IntersticeError } from '../contract/errors.js';
import type { Reply } from './redis-client.js';
import type { RedisLink } from './redis-link.js';

/**
 * What the store must keep when it ends without warning: `any` = no requirement; `everysec` = all but the last second
 * (an append-only file that is synchronised every second); `always` = every accepted frame.
 */
export type Durability = 'any' | 'everysec' | 'always';

const MEANING: Readonly<Record<Durability, string>> = {
  any: 'The store keeps no append-only file: if it ends, it loses what came since its last snapshot, or everything.',
  everysec: 'The store synchronises its append-only file every second: if it ends, it loses up to the last second.',
  always:
    'The store synchronises its append-only file with every write: if it ends, it loses nothing that was accepted.',
};

const RANK: readonly Durability[] = ['any', 'everysec', 'always'];

/** @returns what the store keeps, as text @throws INVALID_PARAMETER if that is less than `asked`, or is unknown */
export async function checkDurability(link: RedisLink, asked: Durability): Promise<string> {
  const found = await readDurability(link);
  if (found && RANK.indexOf(found) >= RANK.indexOf(asked)) return MEANING[found];
  if (asked === 'any')
    return 'What the store keeps when it ends could not be found out: it does not answer CONFIG GET.';
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `INTERSTICE_STORE_DURABILITY is ${asked}. ${found ? MEANING[found] : 'The store does not answer CONFIG GET, so what it keeps is not known.'}`,
    { hint: 'Set appendonly and appendfsync of the store, or ask for less.' },
  );
}

async function readDurability(link: RedisLink): Promise<Durability | undefined> {
  const settings = await readSettings(link, 'append*');
  if (!settings.has('appendonly')) return undefined;
  if (settings.get('appendonly') !== 'yes') return 'any';
  const mode = settings.get('appendfsync');
  return mode === 'always' || mode === 'everysec' ? mode : 'any';
}

/** @returns a warning if the store removes sessions to make room for others */
export async function warnOfEviction(link: RedisLink): Promise<string | undefined> {
  const settings = await readSettings(link, 'maxmemory*');
  const [limit = '0', policy = 'noeviction'] = [settings.get('maxmemory'), settings.get('maxmemory-policy')];
  if (limit === '0' || policy === 'noeviction') return undefined;
  return `The store removes sessions, or parts of them, when its memory is full (maxmemory-policy ${policy}): set noeviction.`;
}

/** Empty if the store does not answer CONFIG GET. */
async function readSettings(link: RedisLink, pattern: string): Promise<ReadonlyMap<string, string>> {
  const words = (((await link.tryQuery(['CONFIG', 'GET', pattern])) ?? []) as readonly Reply[]).map(String);
  return new Map(words.flatMap((name, k) => (k % 2 === 0 ? [[name, words[k + 1] ?? '']] : [])));
}
