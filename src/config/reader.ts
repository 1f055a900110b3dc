import { SETTINGS, type Setting } from './settings.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the value of a setting comes from; flags of the command line count as environment. */
export type Source = 'environment' | 'file' | 'default';

export interface SettingValue {
  readonly name: string;
  /** as written; null = unset */
  readonly value: string | null;
  readonly source: Source;
}

/** Takes settings one by one, and collects what is wrong with them. */
export class Reader {
  constructor(
    private readonly environment: Environment,
    private readonly file: Readonly<Record<string, string>>,
    readonly problems: string[],
  ) {}

  text(setting: Setting): string | undefined {
    return this.environment[setting.name] || this.file[setting.name] || setting.default;
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

  number(setting: Setting): number {
    const given = this.text(setting) ?? '';
    const value = /^\d+(\.\d+)?$/.test(given.trim()) ? Number(given) : Number.NaN;
    const [least, most] = setting.range ?? [0, Number.MAX_SAFE_INTEGER];
    if (!(value >= least && value <= most) || (setting.isInteger && !Number.isInteger(value))) {
      const kind = setting.isInteger ? 'a whole number' : 'a number';
      const off = setting.canBeOff ? ', or off' : '';
      this.problems.push(
        `${setting.name} is ${quote(given)}, expected ${kind} from ${least} to ${most} (${setting.unit})${off}.`,
      );
    }
    return value;
  }

  settings(): SettingValue[] {
    return Object.values<Setting>(SETTINGS).map((setting) => ({
      name: setting.name,
      value: this.text(setting) ?? null,
      source: this.environment[setting.name] ? 'environment' : this.file[setting.name] ? 'file' : 'default',
    }));
  }
}

/** A URL in the wrong place may carry a password, and messages end up in logs. */
const quote = (value: string): string => JSON.stringify(value.replace(/\/\/[^/@]*@/, '//***@'));
