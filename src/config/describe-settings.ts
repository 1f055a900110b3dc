import type { Setting } from './setting.js';
import { SETTINGS } from './settings.js';

/** The default as documentation shows it, which must not depend on the machine that writes it; undefined = unset. */
export const defaultShown = (setting: Setting): string | undefined => OF_MACHINE.get(setting) ?? setting.default;

const OF_MACHINE: ReadonlyMap<Setting, string> = new Map<Setting, string>([
  [SETTINGS.threads, 'one per core'],
  [SETTINGS.cores, 'one per core'],
  [SETTINGS.maxConnections, 'from the limit of open files, at most 4096'],
  [SETTINGS.maxBodyBytes, 'a quarter of the memory, at most 4 GiB'],
  [SETTINGS.maxPairBytes, 'a quarter of the memory, at most 4 GiB'],
  [SETTINGS.maxWorkBytes, 'half of the memory, or at least a quarter where the other shares leave less'],
  [SETTINGS.maxSessionBytes, 'an eighth of the memory, at most 4 GiB'],
  [SETTINGS.maxJobBytes, 'a sixteenth of the memory, at most 1 GiB'],
  [SETTINGS.maxQueueBytes, 'a thirty-second of the memory, at most 1 GiB'],
]);

/** The valid values of a setting, in words. */
function describeValues(setting: Setting): string {
  return setting.choices?.join(' | ') ?? describeRange(setting) ?? 'text';
}

/** The range of a number, and the word that is valid beside it; undefined = no number. */
export function describeRange({ range, unit, canBeOff, canBeAuto }: Setting): string | undefined {
  if (!range) return undefined;
  const numbers = `${range[0]} to ${range[1]}`;
  // A port has a number; it is not an amount.
  const span = unit === 'port' ? `port ${numbers}` : `${numbers} ${unit}`;
  return `${span}${canBeOff ? ', or off' : canBeAuto ? ', or auto' : ''}`;
}

/** A Markdown table with one row per setting. */
export function tabulateConfig(): string {
  const rows = Object.values<Setting>(SETTINGS).map((setting) => {
    const values = describeValues(setting).replaceAll('|', '\\|');
    return `| \`${setting.name}\` | ${values} | ${defaultShown(setting) ?? 'unset'} | ${setting.description} |`;
  });
  return ['| setting | values | default | what it does |', '|---|---|---|---|', ...rows].join('\n');
}
