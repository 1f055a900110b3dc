import type { Command, Option } from 'commander';

/** Fields of a request that differ from the name of the flag that sets them, by attribute of the flag. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  closerThan: ['reportPairsCloserThan'],
  turn: ['turned'],
  rest: ['mesh.strainLimits.rest', 'mesh.restLengths'],
  strainMin: ['mesh.strainLimits'],
  strainMax: ['mesh.strainLimits'],
};

/**
 * Rewrites an error for whoever typed the flags of a command: it names the flag `--step-limit` where the contract, and so
 * the message, names the field `stepLimit`.
 *
 * A field of an options file keeps its name, which is what the user wrote: with such a file only flags of the command line
 * are named. A setting (`INTERSTICE_THREADS`) keeps its name unless its flag was given.
 */
export function flagNamer(command: Command): (text: string) => string {
  const isGiven = (option: Option): boolean => command.getOptionValueSource(option.attributeName()) === 'cli';
  const hasFile = command.getOptionValueSource('options') === 'cli';
  const flags = new Map<string, string[]>();
  for (const option of command.options) {
    const name = option.attributeName();
    const settings = isGiven(option) ? [`INTERSTICE_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`] : [];
    const fields = isGiven(option) || !hasFile ? (FIELDS[name] ?? [name]) : [];
    for (const word of [...settings, ...fields]) flags.set(word, [...(flags.get(word) ?? []), option.long!]);
  }
  return (text) =>
    [...flags].reduce((told, [word, named]) => told.replace(patternOf(word), `$1${named.join(', ')}`), text);
}

/** A field whose name is also a word of the language is one only where it is the subject of the message. */
function patternOf(word: string): RegExp {
  const name = word.replaceAll('.', '\\.');
  if (/^[a-z]+$/.test(word)) return new RegExp(`(^|: )(?:parameters\\.)?${name}(?= is | names )`);
  return new RegExp(`(^|[^\\w.-])(?:Field |parameters\\.)?${name}(?![\\w-]|\\.\\w)`, 'g');
}
