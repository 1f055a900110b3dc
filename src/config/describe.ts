import { SETTINGS, type Setting } from './settings.js';

/** The number of cores is a fact of one machine, and would make pages differ from one to the next. */
const defaultShown = (setting: Setting): string =>
  setting === SETTINGS.threads ? 'one a core' : (setting.default ?? 'unset');

/** What a setting takes, in words. */
function describeValues({ choices, range, unit, canBeOff }: Setting): string {
  if (choices) return choices.join(' | ');
  if (!range) return 'text';
  return `${range[0]} to ${range[1]} ${unit}${canBeOff ? ', or off' : ''}`;
}

/** One line a setting, for people at a terminal. */
export function describeConfig(): string {
  return Object.values<Setting>(SETTINGS)
    .map((setting) => {
      const head = `${setting.name}  (${describeValues(setting)}; default ${defaultShown(setting)})`;
      return `${head}\n    ${setting.description}`;
    })
    .join('\n');
}

/** The same as rows of a Markdown table. */
export function tabulateConfig(): string {
  const rows = Object.values<Setting>(SETTINGS).map((setting) => {
    const values = describeValues(setting).replaceAll('|', '\\|');
    return `| \`${setting.name}\` | ${values} | ${defaultShown(setting)} | ${setting.description} |`;
  });
  return ['| setting | values | default | what it does |', '|---|---|---|---|', ...rows].join('\n');
}
