import { type Command, Option } from 'commander';
import type { BackendChoice } from './backend.js';
import { UsageError } from './exit-codes.js';
import { choiceOption, parseCount, parseNumber } from './parameter-flags.js';

/* Options that several commands have. */

const ENGINES = ['auto', 'cpu', 'webgpu'] as const;

export const heading = {
  output: 'Output:',
  kinematic: 'Kinematic vertices:',
  strain: 'Strain limits (qualities balanced and fine):',
  place: 'Where it runs:',
  parameters: 'Parameters (lengths in the unit of the mesh; they take precedence over the options file):',
};

/** Adds options under a heading of the help. */
export function addTo(command: Command, group: string, options: readonly Option[]): void {
  for (const option of options) command.addOption(option.helpGroup(group));
}

export const kinematicOptions = (): Option[] => [
  new Option('--kinematic-from <N>', 'every vertex from id N on (ids count from 0)').argParser(parseCount),
  new Option('--kinematic <FILE>', 'the vertices listed in FILE: one id or range a-b per line; # starts a comment'),
];

export const placeOptions = (): Option[] => [
  choiceOption('engine', ENGINES, 'the engine in this process (default: INTERSTICE_ENGINE, or cpu)'),
  new Option(
    '--threads <N>',
    'requests at the same time (default: INTERSTICE_THREADS, or 1, which suffices for one run; INTERSTICE_CORES limits its threads)',
  ).argParser(parseCount),
  new Option('--server <URL>', 'use a running service instead, for example http://127.0.0.1:8080'),
  new Option(
    '--api-key-file <FILE>',
    'with --server: the file with the API key of the service (default: the variable INTERSTICE_API_KEY)',
  ),
];

export const weldOption = (): Option =>
  new Option(
    '--weld',
    'join elements where vertices have exactly the same position, as at the seams of glTF; ids stay',
  );

export const outputOptions = (what: string): Option[] => [
  new Option('--json', `print ${what} as JSON (proto3 names) on stdout instead of a summary; refusals too`),
  new Option('--quiet', 'no progress and no summary; errors are still printed'),
];

export const jobOption = (): Option =>
  new Option(
    '--job',
    'with --server: submit a job that no connection waits for, and wait for it; Ctrl-C leaves it to the service (see interstice job)',
  );

/** @param what the command does within this time */
export const timeBudgetOption = (what: string): Option =>
  new Option(
    '--time-budget <SECONDS>',
    `${what} within this time (default: none; with --server that of the service; at most INTERSTICE_MAX_TIME_BUDGET_SECONDS, by default 600)`,
  ).argParser(parseNumber);

/** @throws UsageError for flags of an engine in this process together with --server, and of a service without it */
export function refuseEngineFlags(values: BackendChoice & { readonly job?: boolean }, command: string): void {
  if (values.server === undefined) {
    if (values.apiKeyFile !== undefined) throw new UsageError('--api-key-file needs --server.', command);
    if (values.job === true)
      throw new UsageError('--job needs --server: a job outlives this program, in a service.', command);
    return;
  }
  const flag = values.engine !== undefined ? '--engine' : values.threads !== undefined ? '--threads' : undefined;
  if (flag !== undefined) {
    throw new UsageError(`${flag} cannot be used with --server: the service has its own setting.`, command);
  }
}
