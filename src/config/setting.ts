/** One setting of the service. */
export interface Setting {
  /** the environment variable, and the name in a settings file */
  readonly name: string;
  /** as written in a settings file; undefined = unset */
  readonly default: string | undefined;
  readonly unit?: string;
  /** inclusive */
  readonly range?: readonly [number, number];
  readonly choices?: readonly string[];
  readonly isInteger?: boolean;
  /** whether `off` is valid too */
  readonly canBeOff?: boolean;
  /** whether `auto` is valid too */
  readonly canBeAuto?: boolean;
  readonly description: string;
}

/** A whole number. */
export const number = (
  name: string,
  value: number,
  range: readonly [number, number],
  unit: string,
  description: string,
) => ({ name, default: String(value), range, unit, isInteger: true, description }) as const satisfies Setting;

export const seconds = (name: string, value: number, range: readonly [number, number], description: string) =>
  ({ name, default: String(value), range, unit: 'seconds', description }) as const satisfies Setting;

export const text = (name: string, description: string) =>
  ({ name, default: undefined, description }) as const satisfies Setting;

/** 0 or 1 */
export const flag = (name: string, description: string) =>
  ({ name, default: '0', choices: ['0', '1'], description }) as const satisfies Setting;
