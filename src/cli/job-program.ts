import { type Command, Option } from 'commander';
import type { CliContext } from './backend.js';
import type { FetchFlags, JobFlags } from './commands/job.js';
import * as help from './help.js';

/** `interstice job list|watch|fetch|cancel` */
export function addJob(program: Command, cli: CliContext, done: (code: number) => void): void {
  const job = program
    .command('job')
    .summary('list, watch, fetch and cancel the jobs of a service')
    .description(help.JOB_DESCRIPTION)
    .helpCommand(false)
    .addHelpText('after', help.JOB_EXTRA);
  const withPlace = (command: Command, isQuietable = true): Command => {
    command
      .addOption(new Option('--server <URL>', 'the service, for example http://127.0.0.1:8080').makeOptionMandatory())
      .addOption(
        new Option(
          '--api-key-file <FILE>',
          'the file with the API key of the service (default: the variable INTERSTICE_API_KEY)',
        ),
      )
      .option('--json', 'print JSON (proto3 names) on stdout; refusals too');
    if (isQuietable) command.option('--quiet', 'no progress and no summary; errors are still printed');
    return command;
  };
  withPlace(job.command('list').description('Lists your jobs.'), false).action(async (flags: JobFlags) => {
    done(await (await import('./commands/job.js')).runJobList(flags, cli));
  });
  withPlace(
    job
      .command('watch')
      .description(
        'Waits until a job has ended, with its progress on a terminal. The exit code is 0 if it succeeded, otherwise that of its error. Ctrl-C ends the watching, not the job.',
      )
      .argument('<ID>'),
  ).action(async (id: string, flags: JobFlags) => {
    done(await (await import('./commands/job.js')).runJobWatch(id, flags, cli));
  });
  withPlace(
    job
      .command('fetch')
      .description(
        'Waits until a job has ended and writes its answer, as resolve or untangle does. START is the file that the job was submitted with: its elements are written, at the positions of the answer. The job is kept until it expires, or is cancelled.',
      )
      .argument('<ID>')
      .argument('[START]', 'OBJ, PLY or glTF; needed with -o')
      .option('-o, --output <FILE>', 'write the answer to FILE, .obj, .ply or .glb; an input is never overwritten')
      .option('--weld', 'the job was submitted with --weld'),
  ).action(async (id: string, start: string | undefined, flags: FetchFlags) => {
    done(await (await import('./commands/job.js')).runJobFetch(id, start, flags, cli));
  });
  withPlace(
    job
      .command('cancel')
      .description('Stops a job, if it has not ended, and forgets it and its answer.')
      .argument('<ID>'),
  ).action(async (id: string, flags: JobFlags) => {
    done(await (await import('./commands/job.js')).runJobCancel(id, flags, cli));
  });
}
