import { type Command, Option } from 'commander';
import { defaultShown, describeRange } from '../config/describe-settings.js';
import type { Setting } from '../config/setting.js';
import { SETTINGS } from '../config/settings.js';

const flagged = Object.values<Setting>(SETTINGS);

const isSwitch = (setting: Setting): boolean => setting.choices?.join() === '0,1';

/** INTERSTICE_HTTP_PORT → http-port */
const flagNameOf = (setting: Setting): string =>
  setting.name
    .replace(/^INTERSTICE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');

/** The key of the flag's value in commander's result: http-port → httpPort */
const attributeOf = (setting: Setting): string => new Option(`--${flagNameOf(setting)}`).attributeName();

function optionOf(setting: Setting): Option {
  const facts: string[] = [];
  const range = describeRange(setting);
  if (range !== undefined) facts.push(range);
  const fallback = defaultShown(setting);
  if (!isSwitch(setting) && fallback !== undefined) facts.push(`default: ${fallback}`);
  const placeholder = placeholderOf(setting);
  if (placeholder === 'WORD') facts.unshift((setting.choices ?? []).join(', '));
  const flag = `--${flagNameOf(setting)}${isSwitch(setting) ? '' : ` <${placeholder}>`}`;
  const suffix = facts.length > 0 ? ` (${facts.join('; ')})` : '';
  // The table describes a switch as "1 does …"; the flag means that 1.
  const description = isSwitch(setting)
    ? setting.description.replace(/^1 ([a-z])/, (_, letter: string) => letter.toUpperCase())
    : setting.description;
  return new Option(flag, `${description}${suffix} [${setting.name}]`);
}

/** Longer lists of words would push the descriptions of all flags to the right. */
const widestChoices = 20;

function placeholderOf(setting: Setting): string {
  const choices = setting.choices?.join('|');
  if (choices !== undefined) return choices.length <= widestChoices ? choices : 'WORD';
  return setting.range === undefined ? 'TEXT' : 'N';
}

/** A flag for every setting of the service, from the same table as the environment variables. */
export function addServeFlags(command: Command): void {
  for (const setting of flagged) command.addOption(optionOf(setting));
}

/** The values of the flags by environment variable; the reader of the environment validates them. */
export function pickSettings(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const set = flagged.flatMap((setting): [string, string][] => {
    const value = values[attributeOf(setting)];
    if (value === undefined) return [];
    return [[setting.name, value === true ? '1' : String(value)]];
  });
  return Object.fromEntries(set);
}
