import { Command, Option } from 'commander';
import type { KinematicPairs } from '../contract/parameters.js';
import type { OnBudget } from '../contract/requests.js';
import { packageVersion } from '../paths.js';
import type { BackendChoice, CliContext } from './backend.js';
import type { CheckFlags } from './commands/check.js';
import type { FlowFlags } from './commands/flow.js';
import type { KeyFlags } from './commands/key.js';
import type { ResolveFlags } from './commands/resolve.js';
import { UsageError } from './exit-codes.js';
import * as help from './help.js';
import { addParameterFlags, choiceOption, parseCount, parseNumber, pickParameters } from './parameter-flags.js';
import { addServeFlags } from './serve-flags.js';

const ENGINES = ['auto', 'cpu', 'webgpu'] as const;
const ON_BUDGET: readonly OnBudget[] = ['RETURN_SAFE', 'FAIL'];
const KINEMATIC_PAIRS: readonly KinematicPairs[] = ['SKIP', 'PROTECT'];

const heading = {
  output: 'Output:',
  kinematic: 'Kinematic vertices:',
  strain: 'Strain limits (qualities balanced and fine, engine cpu):',
  place: 'Where it runs:',
  parameters: 'Parameters (lengths in the unit of the mesh; they take precedence over the options file):',
};

function addTo(command: Command, group: string, options: readonly Option[]): void {
  for (const option of options) command.addOption(option.helpGroup(group));
}

const kinematicOptions = (): Option[] => [
  new Option('--kinematic-from <N>', 'every vertex from id N on (ids count from 0)').argParser(parseCount),
  new Option('--kinematic <FILE>', 'the vertices listed in FILE: one id or range a-b per line; # starts a comment'),
];

const placeOptions = (): Option[] => [
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

const outputOptions = (what: string): Option[] => [
  new Option('--json', `print ${what} as JSON (proto3 names) on stdout instead of a summary; errors too`),
  new Option('--quiet', 'no progress and no summary; errors are still printed'),
];

/**
 * The commands are imported when they run: a help page or a misspelt flag loads no part of the service.
 *
 * @param done receives the exit code of the command that ran
 */
export function buildProgram(cli: CliContext, done: (code: number) => void): Command {
  const program = new Command('interstice')
    .description(help.DESCRIPTION)
    .version(packageVersion, '--version', 'print the version')
    .addHelpText('after', help.ROOT_EXTRA)
    .enablePositionalOptions()
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ minWidthToWrap: 20 })
    .configureOutput({
      writeOut: (text) => cli.terminal.out.write(text),
      writeErr: (text) => cli.terminal.err.write(text),
      getOutHelpWidth: () => helpWidth(cli.terminal.out.columns),
      getErrHelpWidth: () => helpWidth(cli.terminal.err.columns),
    });
  // Subcommands created by command() inherit exitOverride, the output and the settings of the help.
  addResolve(program, cli, done);
  addCheck(program, cli, done);
  addFlow(program, cli, done);
  addServe(program, cli, done);
  addKey(program, cli, done);
  addBench(program, done);
  return program;
}

/** Wider lines are hard to read; narrower ones leave no room for the descriptions. */
const helpWidth = (columns: number): number => Math.min(110, Math.max(70, columns));

function addResolve(program: Command, cli: CliContext, done: (code: number) => void): void {
  const command = program
    .command('resolve')
    .summary('move a mesh towards a target without intersections')
    .description(help.RESOLVE_DESCRIPTION)
    .argument('<START>', 'OBJ or PLY; must be free of intersections')
    .argument('<TARGET>', 'OBJ or PLY with the same vertices')
    .addHelpText('after', help.RESOLVE_EXTRA);
  addTo(command, heading.output, [
    new Option('-o, --output <FILE>', 'write the answer to FILE, .obj or .ply; an input is never overwritten'),
    ...outputOptions('the report'),
    new Option(
      '--trace <DIR>',
      'write every state as DIR/state-00000.ply …, and trace.json; consecutive states are the exact pieces of the path',
    ),
  ]);
  addTo(command, heading.kinematic, kinematicOptions());
  addTo(command, heading.strain, [
    new Option('--rest <FILE>', 'OBJ or PLY with the same vertices: the shape at rest of every triangle'),
    new Option(
      '--strain-min <S>',
      'smallest principal strain, a length relative to that at rest (default: none; range: 0 to 1)',
    ).argParser(parseNumber),
    new Option(
      '--strain-max <S>',
      'largest principal strain (default: none; range: ≥ 1); strain limits take the place of --stretch-limit',
    ).argParser(parseNumber),
  ]);
  addTo(command, heading.place, [
    ...placeOptions(),
    new Option('--time-budget <SECONDS>', 'stop early enough to answer within this time (default: none)').argParser(
      parseNumber,
    ),
    choiceOption(
      'on-budget',
      ON_BUDGET,
      'when the time is up: return the safe state reached so far (default), or fail',
    ),
  ]);
  command.addOption(
    new Option(
      '--options <FILE>',
      'JSON like {"parameters": {"stepLimit": 100}, "kinematicFrom": 15105}, the "options" of the service',
    ).helpGroup(heading.parameters),
  );
  addParameterFlags(command, heading.parameters);
  command.action(async (start: string, target: string, values: ResolveFlags) => {
    refuseEngineFlags(values, 'resolve');
    const { runResolve } = await import('./commands/resolve.js');
    done(await runResolve(start, target, { ...values, parameters: pickParameters({ ...values }) }, cli));
  });
}

function addCheck(program: Command, cli: CliContext, done: (code: number) => void): void {
  const command = program
    .command('check')
    .summary('test a mesh, or a straight path, for intersections')
    .description(help.CHECK_DESCRIPTION)
    .argument('<MESH>', 'OBJ or PLY')
    .argument('[PATH_END]', 'OBJ or PLY with the same vertices')
    .addHelpText('after', help.CHECK_EXTRA);
  addTo(command, heading.output, [
    new Option(
      '--closer-than <D>',
      'also list pairs closer than D, in the unit of the mesh; they do not change the exit code',
    ).argParser(parseNumber),
    new Option(
      '--max-pairs <N>',
      'list at most N pairs of each kind (default: 64); counts are always complete',
    ).argParser(parseCount),
    ...outputOptions('the verdict'),
  ]);
  addTo(command, heading.kinematic, [
    ...kinematicOptions(),
    choiceOption(
      'kinematic-pairs',
      KINEMATIC_PAIRS,
      'pairs of two kinematic elements are excluded (default), or tested like all others',
    ),
    new Option('--options <FILE>', 'JSON like {"kinematicFrom": 15105, "maxPairs": 10}, the "options" of the service'),
  ]);
  addTo(command, heading.place, placeOptions());
  command.action(async (mesh: string, pathEnd: string | undefined, values: CheckFlags) => {
    refuseEngineFlags(values, 'check');
    const { runCheck } = await import('./commands/check.js');
    done(await runCheck(mesh, pathEnd, values, cli));
  });
}

function addFlow(program: Command, cli: CliContext, done: (code: number) => void): void {
  const command = program
    .command('flow')
    .summary('move a closed surface along its normals without intersections')
    .description(help.FLOW_DESCRIPTION)
    .argument('<MESH>', 'OBJ or PLY; a closed surface, free of intersections')
    .addHelpText('after', help.FLOW_EXTRA)
    .addOption(
      new Option('--offset <DISTANCE>', 'how far, in the unit of the mesh; > 0 outwards, < 0 inwards')
        .argParser(parseNumber)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--steps <N>', 'number of steps (default: steps of half a median edge at most)').argParser(parseCount),
    )
    .addOption(
      new Option(
        '--smoothing <X>',
        'α, 0 to 1: intensity of three rounds of smoothing in every step (default: 0)',
      ).argParser(parseNumber),
    );
  addTo(command, heading.output, [
    new Option('-o, --output <FILE>', 'write the answer to FILE, .obj or .ply; the input is never overwritten'),
    ...outputOptions('the result'),
  ]);
  addTo(command, heading.place, placeOptions());
  addParameterFlags(command, heading.parameters.replace('; they take precedence over the options file', ''));
  command.action(async (mesh: string, values: FlowFlags) => {
    refuseEngineFlags(values, 'flow');
    const { runFlow } = await import('./commands/flow.js');
    done(await runFlow(mesh, { ...values, parameters: pickParameters({ ...values }) }, cli));
  });
}

function refuseEngineFlags(values: BackendChoice, command: string): void {
  if (values.server === undefined) {
    if (values.apiKeyFile !== undefined) throw new UsageError('--api-key-file needs --server.', command);
    return;
  }
  const flag = values.engine !== undefined ? '--engine' : values.threads !== undefined ? '--threads' : undefined;
  if (flag !== undefined) {
    throw new UsageError(`${flag} cannot be used with --server: the service has its own setting.`, command);
  }
}

function addServe(program: Command, cli: CliContext, done: (code: number) => void): void {
  const command = program.command('serve').summary('start the service').description(help.SERVE_DESCRIPTION);
  addServeFlags(command);
  command.option('--print-config', 'print the value and the source of every setting, and exit');
  command.action(async (values: Record<string, string>) => {
    const { runServe } = await import('./commands/serve.js');
    done(await runServe(values, cli));
  });
}

function addKey(program: Command, cli: CliContext, done: (code: number) => void): void {
  program
    .command('key')
    .summary('create an API key')
    .description(help.KEY_DESCRIPTION)
    .argument('<TENANT>', 'the holder of the key: letters, digits, dots, underscores, hyphens')
    .option('--priority <WORD>', 'the highest priority that its requests may use: batch, normal, interactive (default)')
    .action(async (tenant: string, values: KeyFlags) => {
      const { runKey } = await import('./commands/key.js');
      done(runKey(tenant, values, cli));
    });
}

function addBench(program: Command, done: (code: number) => void): void {
  program
    .command('bench')
    .summary('run the benchmark')
    .description(help.BENCH_DESCRIPTION)
    .argument('[ARGUMENTS...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (values: string[]) => {
      const { runBench } = await import('./commands/bench.js');
      done(await runBench(values));
    });
}
