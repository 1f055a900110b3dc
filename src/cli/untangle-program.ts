import { type Command, Option } from 'commander';
import type { CliContext } from './backend.js';
import type { UntangleFlags } from './commands/untangle.js';
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
import * as help from './help.js';
import { addParameterFlags, parseCount, parseNumber, pickParameters } from './parameter-flags.js';

/** `interstice untangle` */
export function addUntangle(program: Command, cli: CliContext, done: (code: number) => void): void {
  const command = program
    .command('untangle')
    .summary('move an intersecting mesh to a state without intersections')
    .description(help.UNTANGLE_DESCRIPTION)
    .argument('<START>', 'OBJ, PLY or glTF; may intersect')
    .addHelpText('after', help.UNTANGLE_EXTRA);
  addTo(command, heading.output, [
    new Option('-o, --output <FILE>', 'write the answer to FILE, .obj, .ply or .glb; the input is never overwritten'),
    new Option('--picture <FILE>', 'draw start and answer to FILE, .png; what was on a wrong side is red; z is up'),
    weldOption(),
    ...outputOptions('the report'),
  ]);
  addTo(command, 'What is right:', [
    new Option(
      '--layer <INNER:OUTER>',
      'part OUTER belongs on the side of the normals of part INNER (INNER:OUTER:against: on the other side); may be repeated',
    ).argParser((text: string, before: string[] = []) => [...before, text]),
    new Option('--turn <ID>', 'the other side of contour ID of the start is the wrong one; may be repeated').argParser(
      (text: string, before: number[] = []) => [...before, parseCount(text)],
    ),
    new Option('--max-iterations <N>', 'end after N iterations (default: 60)').argParser(parseCount),
    new Option(
      '--max-displacement <D>',
      'no vertex may end farther from its start than D, in the unit of the mesh (default: no limit)',
    ).argParser(parseNumber),
    new Option(
      '--rest <FILE>',
      'a file with the same vertices: edges keep within --stretch-limit of their lengths there',
    ),
  ]);
  addTo(command, heading.kinematic, kinematicOptions());
  addTo(command, heading.place, [...placeOptions(), jobOption(), timeBudgetOption('answer with the best state found')]);
  command.addOption(
    new Option('--options <FILE>', 'JSON like {"parameters": {"kinematicPairs": "PROTECT"}}, as for resolve').helpGroup(
      heading.parameters,
    ),
  );
  addParameterFlags(command, heading.parameters);
  command.action(async (start: string, values: UntangleFlags) => {
    refuseEngineFlags(values, 'untangle');
    const { runUntangle } = await import('./commands/untangle.js');
    done(await runUntangle(start, { ...values, parameters: pickParameters({ ...values }) }, cli));
  });
}
