import type { Setting } from './setting.js';
import { SETTINGS } from './settings.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The origin of a value. */
export type Source = 'flag' | 'environment' | 'file' | 'default';

export interface SettingValue {
  readonly name: string;
  /** as written; null = unset */
  readonly value: string | null;
  readonly source: Source;
}

/** Reads the values of settings (flags and environment, then file, then default) and collects the problems with them. */
export class Reader {
  /**
   * @param environment the flags among them
   * @param flags those of the command line; they only tell where a value is from
   */
  constructor(
    private readonly environment: Environment,
    private readonly flags: Environment,
    private readonly file: Readonly<Record<string, string>>,
    readonly problems: string[],
  ) {}

  isSet(setting: Setting): boolean {
    return Boolean(this.environment[setting.name] || this.file[setting.name]);
  }

  text(setting: Setting): string | undefined {
    return this.environment[setting.name] || this.file[setting.name] || setting.default;
  }

  /** Values separated by commas, without empty ones. */
  list(setting: Setting): string[] {
    return (this.text(setting) ?? '')
      .split(',')
      .map((value) => value.trim().toLowerCase())
      .filter((value) => value !== '');
  }

  choice(setting: Setting): string {
    const value = this.text(setting) ?? '';
    if (!setting.choices?.includes(value)) {
      this.problems.push(`${setting.name} is ${quote(value)}, expected ${setting.choices?.join(' or ')}.`);
    }
    return value;
  }

  numberOrOff(setting: Setting): number | 'off' {
    return this.text(setting) === 'off' ? 'off' : this.number(setting);
  }

  numberOrAuto(setting: Setting): number | 'auto' {
    return this.text(setting) === 'auto' ? 'auto' : this.number(setting);
  }

  number(setting: Setting): number {
    const given = this.text(setting) ?? '';
    const value = /^\d+(\.\d+)?$/.test(given.trim()) ? Number(given) : Number.NaN;
    const [min, max] = setting.range ?? [0, Number.MAX_SAFE_INTEGER];
    if (!(value >= min && value <= max) || (setting.isInteger && !Number.isInteger(value))) {
      const kind = setting.isInteger ? 'a whole number' : 'a number';
      const off = setting.canBeOff ? ', or off' : setting.canBeAuto ? ', or auto' : '';
      this.problems.push(
        `${setting.name} is ${quote(given)}, expected ${kind} from ${min} to ${max} (${setting.unit})${off}.`,
      );
    }
    return value;
  }

  settings(): SettingValue[] {
    return Object.values<Setting>(SETTINGS).map((setting) => ({
      name: setting.name,
      value: this.text(setting) ?? null,
      source: this.#sourceOf(setting.name),
    }));
  }

  #sourceOf(name: string): Source {
    if (this.environment[name]) return this.flags[name] ? 'flag' : 'environment';
    return this.file[name] ? 'file' : 'default';
  }
}

/** Messages end up in logs, so the credentials of a URL are removed. */
const quote = (value: string): string => JSON.stringify(value.replace(/\/\/[^/@]*@/, '//***@'));
