import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import type { Parameters, ParametersInput } from '../contract/parameters.js';

type FieldKind =
  | { readonly kind: 'number'; readonly placeholder: string }
  | { readonly kind: 'count'; readonly placeholder: string }
  | { readonly kind: 'choice'; readonly choices: readonly string[] };

/** One parameter of the contract as a flag. Ranges are described here and enforced by the solver. */
export type ParameterFlag = FieldKind & {
  readonly description: string;
  /** 'length' = the unit of the mesh file; '' = a plain number */
  readonly unit: string;
  readonly defaultText: string;
  readonly range: string;
};

const length = 'length';

/**
 * Every field of the contract's `Parameters`, in its order: the help, the parser and the documentation read this table.
 * The mapped type makes the compiler refuse a table that lacks a field.
 */
export const PARAMETER_FLAGS: { readonly [K in keyof Parameters]: ParameterFlag } = {
  preset: {
    kind: 'choice',
    choices: ['TUNED', 'PAPER'],
    description: 'set of defaults that the other parameters start from',
    unit: '',
    defaultText: 'tuned',
    range: '',
  },
  activationDistance: {
    kind: 'number',
    placeholder: 'D',
    description: 'δ, distance to which contacts are pushed apart',
    unit: length,
    defaultText: '0.1 × median edge, less for meshes of several scales; paper: 0.001 m',
    range: '> 0; at most 8 median edges, except on small meshes',
  },
  reach: {
    kind: 'number',
    placeholder: 'D',
    description: 'ρ, distance by which a trust box extends around a vertex',
    unit: length,
    defaultText: '1.8 δ',
    range: '> 0',
  },
  leap: {
    kind: 'number',
    placeholder: 'D',
    description: 'longest free motion that one search covers',
    unit: length,
    defaultText: '2 median edges, less for meshes of several scales',
    range: '≥ 0',
  },
  searchRadiusMin: {
    kind: 'number',
    placeholder: 'D',
    description: 'D_min, radius down to which a proximity set is reused (preset paper only)',
    unit: length,
    defaultText: '2 δ',
    range: '≥ δ',
  },
  searchRadiusMax: {
    kind: 'number',
    placeholder: 'D',
    description: 'D_max, radius within which pairs are searched (preset paper only)',
    unit: length,
    defaultText: '4 δ',
    range: '≥ D_min',
  },
  stretchLimit: {
    kind: 'number',
    placeholder: 'X',
    description:
      'σ, length of an edge relative to its length in the target, or at rest (--rest): fast pulls longer edges back, balanced and fine keep all within it where contacts allow; the report counts and names those that stay longer; 0 disables the limit',
    unit: 'ratio',
    defaultText: '1.1',
    range: '0, or > 1',
  },
  damping: {
    kind: 'number',
    placeholder: 'X',
    description: 'γ, fraction of the distance to the next contact that one step may use',
    unit: '',
    defaultText: '0.9',
    range: '> 0 and < 1',
  },
  residualTolerance: {
    kind: 'number',
    placeholder: 'X',
    description: 'ε, the run has converged when no vertex has more than this fraction of its motion left',
    unit: '',
    defaultText: '0.0001',
    range: '> 0 and < 1',
  },
  stepLimit: {
    kind: 'count',
    placeholder: 'N',
    description: 'L, maximum number of steps of one run; BALANCED and FINE reserve some of them for the end',
    unit: 'steps',
    defaultText: '512',
    range: '≥ 1',
  },
  sweepsPerStep: {
    kind: 'count',
    placeholder: 'N',
    description: 'passes over all constraints in each backward step',
    unit: 'sweeps',
    defaultText: '2; paper: 1',
    range: '1 to 1000',
  },
  metresPerUnit: {
    kind: 'number',
    placeholder: 'X',
    description: 'metres in one unit of the mesh; scales the metric default of preset paper and nothing else',
    unit: 'm',
    defaultText: '1',
    range: '> 0',
  },
  forward: {
    kind: 'choice',
    choices: ['PLANAR', 'ISOTROPIC'],
    description: 'how a motion is bounded: by half-spaces between pairs, or by one radius per vertex',
    unit: '',
    defaultText: 'planar; paper: isotropic',
    range: '',
  },
  contact: {
    kind: 'choice',
    choices: ['GAP', 'VOLUME'],
    description: 'form of the contact constraint',
    unit: '',
    defaultText: 'gap; paper: volume',
    range: '',
  },
  verify: {
    kind: 'choice',
    choices: ['NONE', 'STATE', 'PATH'],
    description:
      'exact test of the answer before it is returned: its state, or its state and every piece of the path; none requires INTERSTICE_ALLOW_UNVERIFIED=1',
    unit: '',
    defaultText: 'state',
    range: '',
  },
  onIntersectingStart: {
    kind: 'choice',
    choices: ['REJECT', 'IGNORE_PAIRS'],
    description:
      'an intersecting start is refused, or its intersecting pairs are excluded until they separate; those left in the answer are counted',
    unit: '',
    defaultText: 'reject',
    range: '',
  },
  kinematicPairs: {
    kind: 'choice',
    choices: ['SKIP', 'PROTECT'],
    description:
      'pairs of two kinematic elements are excluded (avatars touch themselves), or protected like all others',
    unit: '',
    defaultText: 'skip',
    range: '',
  },
  quality: {
    kind: 'choice',
    choices: ['FAST', 'BALANCED', 'FINE'],
    description:
      'fast: Algorithm 1 alone; balanced, fine: then a pull-back, for answers nearer to the target and edges within the limit (preset tuned)',
    unit: '',
    defaultText: 'balanced; paper: fast; method volume-impulses: fast',
    range: '',
  },
  contactOffset: {
    kind: 'number',
    placeholder: 'D',
    description: 'gap that contacts of quality balanced and fine aim for',
    unit: length,
    defaultText: 'δ / 8',
    range: '≥ 0 and ≤ δ',
  },
  method: {
    kind: 'choice',
    choices: ['TWO_WAY', 'VOLUME_IMPULSES'],
    description:
      'two-way collision handling, or volume-preserving impulses, which conserve momentum and consider nothing but collisions (preset tuned, CPU engine)',
    unit: '',
    defaultText: 'two-way',
    range: '',
  },
};

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** `activationDistance` → `activation-distance` */
export const flagNameOf = (field: keyof Parameters): string => kebab(field);

/** A finite number. The empty text, which Number() reads as 0, is refused. */
export function parseNumber(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) throw new InvalidArgumentError('A number is needed, like 0.001 or 1e-3.');
  return value;
}

/** A whole number ≥ 0. */
export function parseCount(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new InvalidArgumentError('A whole number is needed, 0 or greater.');
  return value;
}

const spell = (choice: string): string => choice.toLowerCase().replaceAll('_', '-');

/** Accepts `ignore-pairs`, `IGNORE_PAIRS` and similar spellings; returns the contract's name. */
export function parseChoice<T extends string>(choices: readonly T[]): (text: string) => T {
  return (text) => {
    const found = choices.find((choice) => spell(choice) === spell(text));
    if (found === undefined) throw new InvalidArgumentError(`Choose one of: ${choices.map(spell).join(', ')}.`);
    return found;
  };
}

/** An option whose argument is one of the contract's names, in lower case with hyphens. */
export function choiceOption<T extends string>(flag: string, choices: readonly T[], description: string): Option {
  return new Option(`--${flag} <${choices.map(spell).join('|')}>`, description).argParser(parseChoice(choices));
}

/** "δ, distance … (length; default: …; range: …)" */
function describeFlag(flag: ParameterFlag, defaultText: string): string {
  const facts = [flag.unit, `default: ${defaultText}`, flag.range === '' ? '' : `range: ${flag.range}`];
  return `${flag.description} (${facts.filter((fact) => fact !== '').join('; ')})`;
}

function optionOf(field: keyof Parameters, defaultText = PARAMETER_FLAGS[field].defaultText): Option {
  const row = PARAMETER_FLAGS[field];
  const name = flagNameOf(field);
  const description = describeFlag(row, defaultText);
  if (row.kind === 'choice') return choiceOption(name, row.choices, description);
  const option = new Option(`--${name} <${row.placeholder}>`, description);
  return option.argParser(row.kind === 'number' ? parseNumber : parseCount);
}

const allFields = Object.keys(PARAMETER_FLAGS) as (keyof Parameters)[];

/** Where a command has no flag `--rest`, a description does not name it. */
const OR_AT_REST = ', or at rest (--rest)';

/**
 * Adds a flag for each parameter, under one heading, after the other flags of the command.
 *
 * @param defaults of this command, where they differ from those of the service
 */
export function addParameterFlags(
  command: Command,
  heading: string,
  defaults: { readonly [K in keyof Parameters]?: string } = {},
): Command {
  const hasRest = command.options.some(({ long }) => long === '--rest');
  for (const field of allFields) {
    const option = optionOf(field, defaults[field]).helpGroup(heading);
    if (!hasRest) option.description = option.description.replace(OR_AT_REST, '');
    command.addOption(option);
  }
  return command;
}

/** The parameters that flags set. `values` is the result of commander, whose keys are the contract's names. */
export function pickParameters(values: Readonly<Record<string, unknown>>): ParametersInput {
  const set = allFields.filter((field) => values[field] !== undefined).map((field) => [field, values[field]]);
  // The parsers above return values of the field's own type, which fromEntries cannot express.
  return Object.fromEntries(set) as ParametersInput;
}
