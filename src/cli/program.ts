import { Command, Option } from 'commander';
import type { KinematicPairs } from '../contract/parameters.js';
import type { OnBudget, Priority } from '../contract/requests.js';
import { packageVersion } from '../paths.js';
import type { CliContext } from './backend.js';
import type { CertifyFlags } from './commands/certify.js';
import type { CheckFlags } from './commands/check.js';
import type { ExplainFlags } from './commands/explain.js';
import type { FlowFlags } from './commands/flow.js';
import type { KeyFlags } from './commands/key.js';
import type { ResolveFlags } from './commands/resolve.js';
import {
  addTo,
  heading,
  jobOption,
  kinematicOptions,
  outputOptions,
  placeOptions,
  refuseEngineFlags,
  timeBudgetOption,
  weldOption,
} from './common-options.js';
import { addDoctor } from './doctor-program.js';
import { UsageError } from './exit-codes.js';
import * as help from './help.js';
import { addJob } from './job-program.js';
import { addLoad, addPlan } from './operator-program.js';
import { addParameterFlags, choiceOption, parseCount, parseNumber, pickParameters } from './parameter-flags.js';
import { addServeFlags } from './serve-flags.js';
import { addUntangle } from './untangle-program.js';

const ON_BUDGET: readonly OnBudget[] = ['RETURN_SAFE', 'FAIL'];
const PRIORITIES: readonly Priority[] = ['BATCH', 'NORMAL', 'INTERACTIVE'];
const KINEMATIC_PAIRS: readonly KinematicPairs[] = ['SKIP', 'PROTECT'];

/**
 * Imports commands when they run, so that a help page or a misspelt flag loads no part of the service.
 *
 * @param done receives the exit code of the command that ran
 */
export function buildProgram(cli: CliContext, done: (code: number) => void): Command {
  const program = new Command('interstice')
    .description(help.DESCRIPTION)
    .version(packageVersion, '--version', 'print the version')
    .addHelpText('after', help.ROOT_EXTRA)
    .enablePositionalOptions()
    .helpCommand('help [COMMAND]', 'show the help of a command')
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
  addExplain(program, cli, done);
  addCheck(program, cli, done);
  addCertify(program, cli, done);
  addDoctor(program, cli, done);
  addUntangle(program, cli, done);
  addFlow(program, cli, done);
  addJob(program, cli, done);
  addServe(program, cli, done);
  addKey(program, cli, done);
  addLoad(program, cli, done);
  addPlan(program, cli, done);
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
    .argument('<START>', 'OBJ, PLY or glTF; must be free of intersections')
    .argument('<TARGET>', 'the same vertices at other positions; FILE.glb#NAME is the morph target NAME of a glTF file')
    .argument('[MORE...]', 'with --sequence: further frames')
    .addHelpText('after', help.RESOLVE_EXTRA);
  addTo(command, heading.output, [
    new Option(
      '-o, --output <FILE>',
      'write the answer to FILE, .obj, .ply or .glb; an input is never overwritten. With --sequence a folder',
    ),
    new Option(
      '--sequence',
      'the files are frames, in numeric order of their names: every answer is the start of the next frame. Running the same command again continues where it stopped',
    ),
    weldOption(),
    ...outputOptions('the report'),
    new Option(
      '--trace <DIR>',
      'write every state as DIR/state-00000.ply …, and trace.json; consecutive states are the exact pieces of the path',
    ),
  ]);
  addRequestOptions(command);
  addTo(command, heading.place, [jobOption()]);
  command.action(async (start: string, target: string, more: string[], values: ResolveFlags) => {
    refuseEngineFlags(values, 'resolve');
    const flags = { ...values, parameters: pickParameters({ ...values }) };
    if (values.sequence === true) {
      if (values.job === true)
        throw new UsageError('--job is one resolve; it cannot be used with --sequence.', 'resolve');
      const { runSequence } = await import('./commands/sequence.js');
      done(await runSequence([start, target, ...more], flags, cli));
      return;
    }
    if (more.length > 0) throw new UsageError('resolve takes a start and a target; frames need --sequence.', 'resolve');
    const { runResolve } = await import('./commands/resolve.js');
    done(await runResolve(start, target, flags, cli));
  });
}

/** Adds options for the content of a request and for where it runs. */
function addRequestOptions(command: Command): void {
  addTo(command, heading.kinematic, kinematicOptions());
  addTo(command, heading.strain, [
    new Option(
      '--rest <FILE>',
      'a file with the same vertices: the shape at rest, for --strain-min and --strain-max, or else for --stretch-limit',
    ),
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
    timeBudgetOption('stop early enough to answer'),
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
}

function addExplain(program: Command, cli: CliContext, done: (code: number) => void): void {
  const command = program
    .command('explain')
    .summary('write a report that a browser shows, in one file')
    .description(help.EXPLAIN_DESCRIPTION)
    .argument('<START>', 'OBJ, PLY or glTF')
    .argument('<TARGET>', 'the same vertices elsewhere, as for resolve')
    .addHelpText('after', help.EXPLAIN_EXTRA);
  addTo(command, heading.output, [
    new Option('-o, --output <FILE>', 'write the report to FILE, .html').makeOptionMandatory(),
    new Option('--picture <FILE>', 'also draw start, target and answer to FILE, .png; needs no browser'),
    choiceOption('up', ['z', 'y'] as const, 'the axis that points up in the pictures (default: z)'),
    weldOption(),
    new Option('--quiet', 'no progress and no summary; errors are still printed'),
  ]);
  addRequestOptions(command);
  command.action(async (start: string, target: string, values: ExplainFlags) => {
    refuseEngineFlags(values, 'explain');
    const { runExplain } = await import('./commands/explain.js');
    done(await runExplain(start, target, { ...values, parameters: pickParameters({ ...values }) }, cli));
  });
}

function addCheck(program: Command, cli: CliContext, done: (code: number) => void): void {
  const command = program
    .command('check')
    .summary('test a mesh, or a straight path, for intersections')
    .description(help.CHECK_DESCRIPTION)
    .argument('<MESH>', 'OBJ, PLY or glTF')
    .argument('[PATH_END]', 'the same vertices elsewhere')
    .addHelpText('after', help.CHECK_EXTRA);
  addTo(command, heading.output, [
    new Option(
      '--closer-than <D>',
      'also list pairs closer than D, in the unit of the mesh; they do not change the exit code',
    ).argParser(parseNumber),
    new Option(
      '--max-pairs <N>',
      'list at most N pairs of each kind (default: 64, at most 65,536); counts of intersections are complete, close pairs have no count',
    ).argParser(parseCount),
    weldOption(),
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

function addCertify(program: Command, cli: CliContext, done: (code: number) => void): void {
  const command = program
    .command('certify')
    .summary('resolve, and write a certificate that anybody can check')
    .description(help.CERTIFY_DESCRIPTION)
    .argument('[START]', 'OBJ, PLY or glTF; must be free of intersections')
    .argument('[TARGET]', 'the same vertices elsewhere, as for resolve')
    .addHelpText('after', help.CERTIFY_EXTRA)
    .addOption(new Option('--check <FILE>', 'check the certificate FILE instead'));
  addTo(command, heading.output, [
    new Option('-o, --output <FILE>', 'write the certificate to FILE; an input is never overwritten'),
    ...outputOptions('the verdict'),
  ]);
  addTo(command, heading.kinematic, kinematicOptions());
  addTo(command, heading.place, placeOptions());
  command.addOption(
    new Option('--options <FILE>', 'JSON like {"parameters": {"stepLimit": 100}}, as for resolve').helpGroup(
      heading.parameters,
    ),
  );
  addParameterFlags(command, heading.parameters, { verify: 'path' });
  command.action(async (start: string | undefined, target: string | undefined, values: CertifyFlags) => {
    if (values.check !== undefined) refuseBesideCheck(command);
    refuseEngineFlags(values, 'certify');
    const { runCertify } = await import('./commands/certify.js');
    done(await runCertify(start, target, { ...values, parameters: pickParameters({ ...values }) }, cli));
  });
}

/** What `certify --check` can use; runCertify refuses an output, as it refuses meshes. */
const BESIDE_CHECK = ['check', 'json', 'quiet', 'output'];

/** @throws UsageError for a flag that the check of a certificate would ignore, for example `--verify path` */
function refuseBesideCheck(command: Command): void {
  const ignored = command.options.find((option) => {
    const name = option.attributeName();
    return !BESIDE_CHECK.includes(name) && command.getOptionValueSource(name) === 'cli';
  });
  if (!ignored) return;
  throw new UsageError(`--check reads a certificate; ${ignored.long} has no effect on it.`, 'certify');
}

function addFlow(program: Command, cli: CliContext, done: (code: number) => void): void {
  const command = program
    .command('flow')
    .summary('move a closed surface along its normals without intersections')
    .description(help.FLOW_DESCRIPTION)
    .argument('<MESH>', 'OBJ, PLY or glTF; a closed surface, free of intersections')
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
    new Option('-o, --output <FILE>', 'write the answer to FILE, .obj, .ply or .glb; the input is never overwritten'),
    weldOption(),
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
    .addOption(
      choiceOption('priority', PRIORITIES, 'the highest priority that its requests may use (default: interactive)'),
    )
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
