import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Quality } from '../contract/parameters.js';
import type { CliContext } from './backend.js';
import type { LoadFlags } from './commands/load.js';
import type { PlanFlags } from './commands/plan.js';
import { addTo } from './common-options.js';
import { UsageError } from './exit-codes.js';
import * as help from './help.js';
import { choiceOption, parseCount, parseNumber } from './parameter-flags.js';

/* The commands for operators of the service. */

const DOORS = ['http', 'grpc', 'stream'] as const;
const QUALITIES: readonly Quality[] = ['FAST', 'BALANCED', 'FINE'];
const MOTION = 5;

const counts = (text: string): number[] => {
  const numbers = text.split(',').map((word) => (/^\d+$/.test(word.trim()) ? Number(word) : Number.NaN));
  if (!numbers.every(Number.isSafeInteger)) throw new InvalidArgumentError('Whole numbers are needed, like 1,4,16.');
  return numbers;
};

/** @throws UsageError if the command line has one of the options, which would have no effect; defaults do not count */
function refuseGiven(command: Command, names: readonly string[], reason: string): void {
  const given = names.find((name) => command.getOptionValueSource(name) === 'cli');
  if (given !== undefined) throw new UsageError(`--${given} ${reason}.`, command.name());
}

/** `interstice load` */
export function addLoad(program: Command, cli: CliContext, done: (code: number) => void): void {
  const command = program
    .command('load')
    .summary('put load on a running service and measure it')
    .description(help.LOAD_DESCRIPTION)
    .addHelpText('after', help.LOAD_EXTRA);
  addTo(command, 'Service:', [
    new Option('--server <URL>', 'the service, for example http://127.0.0.1:8080').makeOptionMandatory(),
    new Option('--grpc <URL>', 'its gRPC port, for example https://host:443 (default: port 50051 of --server)'),
    new Option(
      '--api-key-file <FILE>',
      'the file with the API key of the service (default: the variable INTERSTICE_API_KEY)',
    ),
  ]);
  addTo(command, 'Load:', [
    choiceOption('door', DOORS, 'HTTP with bare positions, gRPC calls, or one gRPC stream per session').default('http'),
    new Option('--sessions <LIST>', 'sessions at a time; several numbers are measured in turn')
      .argParser(counts)
      .default([1], '1'),
    new Option(
      '--rate <R>',
      'steps per second of each session (default: each step follows the previous answer)',
    ).argParser(parseNumber),
    new Option('--triangles <N>', 'size of the mesh, two sheets of cloth').argParser(parseCount).default(2000),
    new Option('--motion <PERCENT>', 'motion of the sheets in a step, in percent of their initial gap (0 to 50)')
      .argParser(parseNumber)
      .default(MOTION),
    new Option('--mesh <FILE>', 'your own mesh instead: OBJ, PLY or glTF, free of intersections'),
    new Option('--target <FILE>', 'the same vertices elsewhere; steps go there and back'),
    choiceOption('quality', QUALITIES, 'of the sessions (default: that of the service)'),
    new Option('--deadline <SECONDS>', 'time budget of a step; a later answer is refused').argParser(parseNumber),
    new Option('--duration <SECONDS>', 'of each measurement').argParser(parseNumber).default(10),
    new Option('--warm-up <SECONDS>', 'the same load before the measurement, which does not count')
      .argParser(parseNumber)
      .default(2),
  ]);
  addTo(command, 'Output:', [new Option('--json', 'print the figures as JSON instead of a table; refusals too')]);
  command.action(async (flags: LoadFlags) => {
    if (flags.mesh !== undefined)
      refuseGiven(command, ['triangles', 'motion'], 'is for the sheets of cloth, which --mesh replaces');
    const { runLoadCommand } = await import('./commands/load.js');
    done(await runLoadCommand(flags, cli));
  });
}

/** `interstice plan` */
export function addPlan(program: Command, cli: CliContext, done: (code: number) => void): void {
  const command = program
    .command('plan')
    .summary('say how many processes a load needs')
    .description(help.PLAN_DESCRIPTION)
    .addHelpText('after', help.PLAN_EXTRA);
  addTo(command, 'Demand:', [
    new Option('--sessions <N>', 'sessions at a time').argParser(parseCount),
    new Option('--triangles <N>', 'of the mesh of each').argParser(parseCount),
    new Option('--rate <R>', 'steps per second of each').argParser(parseNumber),
    new Option(
      '--within <SECONDS>',
      '99 of 100 answers within this time from when they are due (default: until the next step is due)',
    ).argParser(parseNumber),
    new Option(
      '--lanes <N>',
      'steps that a process computes at a time, one per core (default: the measured number, the only one that a card allows)',
    ).argParser(parseCount),
  ]);
  addTo(command, 'Costs:', [
    new Option(
      '--costs <NAME|FILE>',
      'the costs of steps: a machine whose costs come with the program (an unknown name lists them), or a file (default: costs of the engine that come with the program)',
    ),
    new Option('--measure <FILE>', 'measure them here instead, on a service that this command starts, and write FILE'),
    choiceOption('engine', ['auto', 'cpu', 'webgpu'] as const, 'the engine that will serve (default: cpu)'),
    choiceOption('quality', QUALITIES, 'with --measure').default('BALANCED', 'balanced'),
    new Option('--motion <PERCENT>', 'with --measure: as for load').argParser(parseNumber).default(MOTION),
    new Option('--sizes <LIST>', 'with --measure: numbers of triangles')
      .argParser(counts)
      .default([500, 2000, 8000, 32_000], '500,2000,8000,32000'),
    new Option('--duration <SECONDS>', 'with --measure: of each size').argParser(parseNumber).default(10),
  ]);
  addTo(command, 'Output:', [new Option('--json', 'print the plan as JSON; refusals too')]);
  command.action(async (flags: PlanFlags) => {
    if (flags.measure === undefined)
      refuseGiven(
        command,
        ['quality', 'motion', 'sizes', 'duration'],
        'needs --measure: a plan takes costs as they are',
      );
    else refuseGiven(command, ['costs'], 'is for a plan without --measure, which gives its own costs');
    if (flags.sessions === undefined)
      refuseGiven(command, ['within'], 'is for a plan: add --sessions, --triangles and --rate');
    const { runPlan } = await import('./commands/plan.js');
    done(await runPlan(flags, cli));
  });
}
