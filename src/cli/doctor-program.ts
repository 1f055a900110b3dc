import { type Command, Option } from 'commander';
import type { CliContext } from './backend.js';
import type { DoctorFlags } from './commands/doctor.js';
import { addTo, heading, kinematicOptions, outputOptions, placeOptions, refuseEngineFlags } from './common-options.js';
import * as help from './help.js';
import { parseCount, parseNumber } from './parameter-flags.js';

/** `interstice doctor` */
export function addDoctor(program: Command, cli: CliContext, done: (code: number) => void): void {
  const command = program
    .command('doctor')
    .summary('say what is wrong with a mesh, also with one that is refused')
    .description(help.DOCTOR_DESCRIPTION)
    .argument('<START>', 'OBJ, PLY or glTF')
    .argument('[TARGET]', 'the same vertices elsewhere')
    .addHelpText('after', help.DOCTOR_EXTRA);
  addTo(command, heading.output, [
    new Option(
      '--weld-to <FILE>',
      'write START with vertices at one place joined: elements use the lowest id, every vertex keeps its own',
    ),
    new Option(
      '--sew-to <FILE>',
      'write START with open seams closed by strips of triangles, which come after all others; vertices stay as they are',
    ),
    new Option('--picture <FILE>', 'draw START as a PNG, with what findings name in colour; z is up'),
    new Option(
      '--distance <D>',
      'how far apart what is welded or sewn may be (default: 1/8000 of the median edge to weld, half of it to sew)',
    ).argParser(parseNumber),
    new Option(
      '--max-elements <N>',
      'name at most N elements of a finding (default: 16); counts are complete',
    ).argParser(parseCount),
    ...outputOptions('the diagnosis'),
  ]);
  addTo(command, heading.kinematic, kinematicOptions());
  addTo(command, heading.place, placeOptions());
  command.action(async (start: string, target: string | undefined, values: DoctorFlags) => {
    refuseEngineFlags(values, 'doctor');
    const { runDoctor } = await import('./commands/doctor.js');
    done(await runDoctor(start, target, values, cli));
  });
}
