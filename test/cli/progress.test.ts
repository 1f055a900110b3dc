import t from 'tap';
import { describeState } from '../../src/cli/commands/as-job.js';
import { fractionDone, renderBar, renderProgress, StatusLine } from '../../src/cli/progress.js';
import type { JobInfo } from '../../src/contract/long-jobs.js';
import { recordTerminal } from './fakes.js';

const bounds = { residualTolerance: 0.0001, stepLimit: 512 };
const at = (steps: number, residual: number, unfinishedVertices = 10) => ({ steps, residual, unfinishedVertices });
const clearLine = '\r\u001b[K';

t.test('the bar follows the residual on a logarithmic scale', async (t) => {
  t.equal(fractionDone(at(0, 1), bounds), 0);
  t.ok(Math.abs(fractionDone(at(1, 0.01), bounds) - 0.5) < 1e-12);
  t.equal(fractionDone(at(1, 0.0001), bounds), 1);
  t.equal(fractionDone(at(1, 0), bounds), 1, 'a residual of zero is the end, not a logarithm of zero');
});

t.test('the bar follows the steps where they are nearer to their limit', async (t) => {
  t.equal(fractionDone(at(256, 1), bounds), 0.5);
  t.equal(fractionDone(at(600, 1), bounds), 1);
});

t.test('a bar has the same width at any fraction', async (t) => {
  t.equal(renderBar(0), `[${'-'.repeat(24)}]`);
  t.equal(renderBar(0.5), `[${'#'.repeat(12)}${'-'.repeat(12)}]`);
  t.equal(renderBar(1), `[${'#'.repeat(24)}]`);
});

t.test('the line tells steps, residual, unfinished vertices and time', async (t) => {
  const line = renderProgress(at(3, 0.012, 1234), bounds, 4560, 200);
  t.match(line, /3 steps {2}residual 1\.2 % {2}1,234 vertices unfinished {2}4\.56 s$/);
  t.match(renderProgress(at(1, 1, 1), bounds, 0, 200), /1 step {2}residual 100 % {2}1 vertex unfinished/);
});

t.test('the line never reaches the last column, where it would wrap', async (t) => {
  for (const columns of [0, 1, 20, 60]) {
    t.equal(renderProgress(at(3, 0.5), bounds, 0, columns).length, Math.max(0, columns - 1), `${columns} columns`);
  }
});

t.test('a terminal is redrawn at most ten times a second', async (t) => {
  const terminal = recordTerminal({ isTerminal: true });
  const line = new StatusLine(terminal.err, terminal.now, 'starting');
  for (let ms = 0; ms < 1000; ms += 10) {
    terminal.clock = ms;
    line.show(at(ms, 0.5), bounds);
  }
  t.equal(terminal.written.err.split('\r').length - 1, 10);
});

t.test('clearing leaves an empty line, once', async (t) => {
  const terminal = recordTerminal({ isTerminal: true });
  const line = new StatusLine(terminal.err, terminal.now, 'starting');
  line.show(at(1, 0.5), bounds);
  terminal.written.err = '';
  line.clear();
  t.equal(terminal.written.err, clearLine);
  line.clear();
  t.equal(terminal.written.err, clearLine);
});

t.test('a pipe, and a person who asked for quiet, get nothing', async (t) => {
  for (const [isTerminal, isWanted] of [
    [false, true],
    [true, false],
  ] as const) {
    const terminal = recordTerminal({ isTerminal });
    const line = new StatusLine(terminal.err, terminal.now, 'starting', isWanted).start();
    line.show(at(1, 0.5), bounds);
    line.clear();
    t.equal(terminal.written.err, '');
  }
});

t.test('the state of a job is told once, with the numbers of what it computes', async (t) => {
  const job = { id: 'a', label: '', created: 0, bytes: 0 } as const;
  const untangling = { iteration: 2, pierces: 9, contours: 1, regionVertices: 5 } as const;
  const told = (more: object): string => describeState({ ...job, ...more } as JobInfo);
  const running = { state: 'JOB_RUNNING', phase: 'SOLVING' } as const;
  t.equal(told({ ...running, untangleProgress: { ...untangling, phase: 'PULLING_BACK' } }), 'pulling back');
  const checked = { ...untangling, phase: 'CHECKING_ANSWER' } as const;
  t.equal(told({ ...running, phase: 'ANSWER_CHECK', untangleProgress: checked }), 'checking');
  const pushed = { ...untangling, phase: 'UNTANGLING' } as const;
  t.equal(told({ ...running, untangleProgress: pushed }).replace(/\s/g, ' '), 'iteration 2: 9 pierces in 1 contour');
  t.equal(told({ state: 'JOB_DONE', untangleProgress: checked }), 'done');
  const resolving = { phase: 'ANSWER_CHECK', progress: at(1, 0.5) } as const;
  t.match(told({ ...resolving, state: 'JOB_RUNNING' }), /^testing the answer {2}1 step .*unfinished$/);
  t.equal(told({ ...resolving, state: 'JOB_DONE' }), 'done', 'the last progress is of the time before the end');
  t.equal(told({ state: 'JOB_WAITING', ahead: 3 }), 'waiting behind 3');
  t.equal(told({ ...running, phase: 'START_CHECK' }), 'testing the start');
});
