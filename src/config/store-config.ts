import type { Reader } from './reader.js';
import type { Setting } from './setting.js';
import { SETTINGS } from './settings.js';

/** A store of sessions outside the process. */
export interface StoreConfig {
  readonly url: string;
  readonly passwordFile?: string;
  /** PEM */
  readonly caFile?: string;
  readonly prefix: string;
  readonly timeoutMs: number;
  readonly onFailure: 'refuse' | 'continue';
  readonly durability: 'any' | 'everysec' | 'always';
  readonly replicas: number;
}

/** The settings of the store, which are checked even if there is none. */
export function readStore(read: Reader): { readonly store?: StoreConfig } {
  const url = read.text(SETTINGS.store) ?? '';
  const passwordFile = read.text(SETTINGS.storePassword);
  const caFile = read.text(SETTINGS.storeCa);
  const prefix = read.text(SETTINGS.storePrefix) ?? '';
  const rest = {
    prefix,
    timeoutMs: 1000 * read.number(SETTINGS.storeTimeoutSeconds),
    onFailure: read.choice(SETTINGS.storeFailure) as StoreConfig['onFailure'],
    durability: read.choice(SETTINGS.storeDurability) as StoreConfig['durability'],
    replicas: read.number(SETTINGS.storeReplicas),
  };
  if (!/^[A-Za-z0-9.-]{1,64}$/.test(prefix)) {
    read.problems.push(
      `${SETTINGS.storePrefix.name} is ${JSON.stringify(prefix)}, expected 1 to 64 letters, digits, dots and hyphens.`,
    );
  }
  if (url === 'memory') return {};
  if (!/^rediss?:\/\/[^/?#\s]+(\/\d{1,3})?\/?$/.test(url) || !URL.canParse(url)) {
    // The value may hold a password, so it is not repeated.
    read.problems.push(
      `${SETTINGS.store.name} must be memory, redis://HOST:PORT/DATABASE or rediss://HOST:PORT/DATABASE.`,
    );
  } else if (new URL(url).password !== '') {
    read.problems.push(
      `${SETTINGS.store.name} contains a password, which logs and /config would show: put it into a file, and name that in ${SETTINGS.storePassword.name}.`,
    );
  }
  const files = {
    ...(passwordFile === undefined ? {} : { passwordFile }),
    ...(caFile === undefined ? {} : { caFile }),
  };
  return { store: { url, ...files, ...rest } };
}

/** Settings that demand something of a store. */
const DEMANDS: readonly Setting[] = [
  SETTINGS.storePassword,
  SETTINGS.storeCa,
  SETTINGS.storeFailure,
  SETTINGS.storeDurability,
  SETTINGS.storeReplicas,
];

/** Settings that differ from their defaults and have no effect beside the others, one sentence each. */
export function storeWarnings(read: Reader): string[] {
  const url = read.text(SETTINGS.store) ?? '';
  if (url === 'memory') {
    return DEMANDS.filter((setting) => read.text(setting) !== setting.default).map(
      ({ name }) =>
        `${name} is set, but sessions are kept in memory only, because ${SETTINGS.store.name} names no store.`,
    );
  }
  if (!read.isSet(SETTINGS.storeCa) || url.startsWith('rediss:')) return [];
  return [
    `${SETTINGS.storeCa.name} is set, but ${SETTINGS.store.name} begins with redis://, which is not encrypted; rediss:// is.`,
  ];
}
