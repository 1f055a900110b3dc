import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { projectRoot } from '../../src/paths.js';
import { shareOf } from '../support/share.js';
import { run } from './in-process.js';

/**
 * What the pages print after a command is what the command prints, apart from times, hashes of reports, which contain
 * times, and the place of the checker. `UPDATE_DOCS=1 node FILE` writes the outputs anew.
 */
const SAMPLES = [
  { page: 'README.md', pair: 'spike', argv: ['doctor', 'examples/pairs/spike/target.obj'], code: 1 },
  {
    page: 'docs/cli.md',
    pair: 'spike',
    argv: ['resolve', 'start.obj', 'target.obj', '--options', 'options.json', '-o', 'answer.obj'],
    code: 0,
  },
  {
    page: 'docs/cli.md',
    pair: 'hair',
    argv: ['certify', 'start.obj', 'target.obj', '--options', 'options.json', '-o', 'answer.certificate'],
    code: 0,
  },
] as const;

/** The line with which a page leaves out the rest. */
const REST = '  …\n';

const CHECKER = /node \S*certificate\.mjs/;
const CHECKER_SHOWN = 'node checker/certificate.mjs';

const isUpdate = process.env.UPDATE_DOCS === '1';

const withoutTimes = (text: string): string =>
  text
    .replaceAll(/\b(?:\d+ min )?[\d.,]+ s\b/g, 'N s')
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'SHA-256')
    .replace(CHECKER, CHECKER_SHOWN);

/** The output that begins with the same word, to the end of its block of the page. */
function findPrinted(text: string, output: string): string {
  const first = /^\S+/.exec(output)?.[0] ?? '';
  const blocks = [...text.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  const block = blocks.find((lines) => lines.split('\n').some((line) => line.startsWith(first)));
  return block?.replace(/^(?:\$ .*\n)+/, '') ?? '';
}

t.test('the outputs that the pages print are those of the commands', async (t) => {
  for (const { page, pair, argv, code } of shareOf(SAMPLES, SAMPLES.length)) {
    const cwd = t.testdir();
    cpSync(join(projectRoot, 'examples', 'pairs', pair), cwd, { recursive: true });
    cpSync(join(projectRoot, 'examples', 'pairs', pair), join(cwd, 'examples', 'pairs', pair), { recursive: true });
    const { status, stdout, stderr } = await run(argv, { cwd });
    t.equal(status, code, stderr);
    const path = join(projectRoot, page);
    const text = readFileSync(path, 'utf8');
    const printed = findPrinted(text, stdout);
    t.not(printed, '', `${page} shows ${argv[0]}`);
    const isCut = printed.endsWith(REST);
    const [shown, output] = isCut
      ? [printed.slice(0, -REST.length), stdout.slice(0, printed.length - REST.length)]
      : [printed, stdout];
    const isSame = withoutTimes(shown) === withoutTimes(output);
    if (isUpdate && !isSame) writeFileSync(path, text.replace(shown, output.replace(CHECKER, CHECKER_SHOWN)));
    else t.equal(withoutTimes(output), withoutTimes(shown), `${page}: ${argv[0]}`);
  }
});
