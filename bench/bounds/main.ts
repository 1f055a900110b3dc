import '../closed-pipe.js';
import { endWithUsage, readFlags, readNumber } from '../command-line.js';
import { Random } from '../prove/scenes/random.js';
import { alignTable } from '../table.js';
import { BOUNDS } from './bounds.js';
import { climb } from './climb.js';

const HELP = `npm run bounds -- [--seed N] [--seconds N] [--only TEXT]

Looks for inputs that come as near as possible to the bounds of rounding on which safety rests, each for some seconds
(default 5), by climbing from random ones. Prints the largest error over its bound; exit code 1 if one is above 1. --only
selects the bounds whose name or file contains a text.
`;

const values = readFlags(HELP, {
  options: {
    seed: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string', default: '' },
    help: { type: 'boolean' },
  },
});
if (values.help) process.stdout.write(HELP);
else run(Number(values.seed ?? Date.now() % 2 ** 31), readNumber(HELP, '--seconds', values.seconds ?? '5', false));

function run(seed: number, seconds: number): void {
  if (!Number.isInteger(seed)) endWithUsage(`--seed is ${values.seed}; it must be a whole number.`, HELP);
  const chosen = BOUNDS.filter(({ name, at }) => `${name} ${at}`.includes(values.only));
  if (chosen.length === 0) endWithUsage(`No bound has "${values.only}" in its name or file.`, HELP);
  process.stdout.write(`seed ${seed}, ${seconds} s each\n\n`);
  const rows = chosen.map((bound) => {
    const end = performance.now() + 1000 * seconds;
    const { ratio, input, tried } = climb(bound, new Random(seed), () => performance.now() > end);
    if (ratio > 1) {
      process.exitCode = 1;
      process.stdout.write(`${bound.name} is exceeded: ${JSON.stringify(input)}\n`);
    }
    return [bound.name, bound.at, ratio.toPrecision(3), String(tried)];
  });
  process.stdout.write(`${alignTable([['bound', 'derived in', 'largest ratio', 'inputs'], ...rows])}\n`);
}
