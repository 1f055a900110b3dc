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
  const reply = await link.tryQuery(['CONFIG', 'GET', 'append*']);
  if (!reply) return undefined;
  const words = (reply as readonly Reply[]).map(String);
  const settingOf = (name: string) => words[words.indexOf(name) + 1];
  if (!words.includes('appendonly')) return undefined;
  if (settingOf('appendonly') !== 'yes') return 'any';
  const mode = settingOf('appendfsync');
  return mode === 'always' || mode === 'everysec' ? mode : 'any';
}
