import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { UsageError } from '../../src/cli/exit-codes.js';
import { openBackend, runCli } from '../../src/cli/run.js';
import { boxesObj } from './boxes.js';
import { recordTerminal } from './fakes.js';
import { twoSheets } from './sheets.js';

/** Longer than the line of progress takes to appear while nothing is reported, milliseconds. */
const UNTIL_DRAWN_MS = 250;
const CLEARED = '\r\u001b[K';

const box = boxesObj([{ at: [0, 0, 0], size: [1, 1, 1], cells: 3 }]);

const COMMANDS: readonly (readonly string[])[] = [
  ['resolve', 'start.obj', 'target.obj'],
  ['resolve', 'start.obj', 'target.obj', '--sequence', '-o', 'frames'],
  ['check', 'start.obj'],
  ['certify', 'start.obj', 'target.obj', '-o', 'out.certificate'],
  ['doctor', 'start.obj'],
  ['untangle', 'start.obj'],
  ['explain', 'start.obj', 'target.obj', '-o', 'out.html'],
  ['flow', 'box.obj', '--offset', '0.01', '--steps', '1'],
];

/** What stands before `text` on its line of the terminal. */
const lineBefore = (written: string, text: string): string | undefined =>
  written.slice(0, written.indexOf(text)).split(CLEARED).at(-1)?.split('\n').at(-1);

for (const argv of COMMANDS) {
  const name = argv.slice(0, argv.includes('--sequence') ? 4 : 1).join(' ');
  t.test(`${name}: an error and the notes of the engine have a line of their own`, async (t) => {
    const files = { 'start.obj': twoSheets(0.005, 0), 'target.obj': twoSheets(0.004, 0), 'box.obj': box };
    const cwd = t.testdir(files);
    process.chdir(cwd);
    const refused = recordTerminal({ isTerminal: true, folder: cwd });
    await runCli(argv, {
      terminal: refused,
      openBackend: async () => {
        await pause(UNTIL_DRAWN_MS);
        throw new UsageError('there is no engine.');
      },
    });
    t.match(refused.written.err, CLEARED, 'the line was drawn and cleared');
    t.equal(lineBefore(refused.written.err, 'error: there is no engine.'), '');

    const terminal = recordTerminal({ isTerminal: true, folder: cwd });
    await runCli(argv, {
      terminal,
      openBackend: async (choice) => {
        await pause(UNTIL_DRAWN_MS);
        const backend = await openBackend(choice, terminal);
        return {
          ...backend,
          close: async () => {
            await backend.close();
            terminal.err.write('note: something to know\n');
          },
        };
      },
    });
    t.match(terminal.written.err, 'note: something to know');
    t.equal(lineBefore(terminal.written.err, 'note: something'), '');
  });
}
