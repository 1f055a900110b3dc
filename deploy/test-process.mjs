/** Runs compiled test files in processes: one in its own process, or many in one (deploy/test-together.mjs). */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { emptyTally, makeParser } from './test-tally.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Time limit for files that hang. The slowest file takes two minutes; five times that allows for a busy machine. */
const FILE_LIMIT_MS = 600_000;
/** On SIGTERM tap prints what was still running; then the process is killed. */
const KILL_AFTER_MS = 5_000;
/** A process that runs files together ends after a file that leaves it with more memory, and another one continues. */
const MAX_RESIDENT_BYTES = 1.5e9;
/** It also ends after this many files, so that the leftovers of one do not affect all later ones. */
const MAX_TOGETHER = 60;
const COST_MODULE = pathToFileURL(join(root, 'deploy', 'test-cost.mjs')).href;
const TOGETHER = join(root, 'deploy', 'test-together.mjs');

/**
 * How files run: the seed, whether they try only a share of their long tables, and whether failures name places in the
 * sources or in dist. For the former, Node reads the source map of every module in every thread:
 * test/session/operations.test.ts takes 8 % more processor time with it.
 *
 * @typedef {{ readonly seed: string, readonly isShared: boolean, readonly namesSources: boolean }} Manner
 */
const start = (args, channel, { seed, isShared, namesSources }, environment) =>
  spawn(process.execPath, [...(namesSources ? ['--enable-source-maps'] : []), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe', channel],
    env: { ...process.env, NODE_ENV: 'test', TEST_SEED: seed, TEST_SHARES: isShared ? '1' : '', ...environment },
  });

/** Ends a process that takes longer than a file may. @returns functions that restart and stop the timer */
function limit(child) {
  let timers = [];
  const watch = { isLate: false, stop: () => timers.forEach(clearTimeout), restart: () => undefined };
  watch.restart = () => {
    watch.stop();
    const late = setTimeout(() => {
      watch.isLate = true;
      child.kill('SIGTERM');
    }, FILE_LIMIT_MS);
    timers = [late, setTimeout(() => child.kill('SIGKILL'), FILE_LIMIT_MS + KILL_AFTER_MS)];
  };
  watch.restart();
  return watch;
}

/** Counts a file that ended badly without a failed assertion as one failure. */
function fail(tally, ...reasons) {
  const given = reasons.filter(Boolean);
  if (given.length === 0 || tally.failed > 0) return;
  tally.failed += 1;
  tally.failures.push({ path: `(the file itself: ${given.join(', ')})`, diag: undefined });
}

const asksNothing = ({ passed, failed, skipped }) => passed + failed + skipped === 0 && 'it asserted nothing';
const asText = (code, signal) => (signal ? `ended by ${signal}` : `exit code ${code}`);
const LATE = `took longer than ${FILE_LIMIT_MS / 1000} s`;

/** Runs a file in its own process. @param onAssert receives the title of each assertion */
export const runAlone = ({ file, name }, manner, onAssert) =>
  new Promise((resolve) => {
    const since = performance.now();
    const tally = emptyTally();
    let final;
    let stderr = '';
    let cost = '';
    const parser = makeParser(() => tally, undefined, onAssert);
    parser.on('complete', (results) => {
      final = results;
    });
    const child = start(['--import', COST_MODULE, file], 'pipe', manner, {
      TAP_TIMEOUT: String(FILE_LIMIT_MS / 1000),
      TEST_RUNNER: String(process.pid),
    });
    const watch = limit(child);
    child.stdout.on('data', (chunk) => parser.write(chunk));
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdio[3].on('data', (chunk) => {
      cost += chunk;
    });
    child.once('error', (error) => {
      stderr += error.message;
    });
    child.once('close', (code, signal) => {
      watch.stop();
      parser.end();
      if (final?.plan?.skipAll === true) {
        tally.skipped += 1;
        tally.skips.push(final.plan.skipReason || 'the whole file');
      }
      const objection = final?.ok !== true && 'the TAP it printed is not ok';
      fail(tally, watch.isLate && LATE, code !== 0 && asText(code, signal), objection, asksNothing(tally));
      resolve({ name, tally, stderr, seconds: (performance.now() - since) / 1000, processor: Number(cost) });
    });
  });

/** A process that runs files one after another. */
class Together {
  isUsable = true;
  #child;
  #limit;
  #parser;
  #stderr = '';
  /** the running file: its name, its tally, and the receiver of its result */
  #running;
  #names = [];
  #hasFailed = false;
  #final;
  /** resolves with faults of the process itself, as a separate result, or with nothing */
  ended;

  constructor(manner) {
    // The time of each file is limited here, and that of the end after the last; between files the process waits for as
    // long as its lane runs files in processes of their own. The time of all files together is not limited.
    this.#child = start([TOGETHER], 'ipc', manner, { TAP_TIMEOUT: '0' });
    this.#limit = limit(this.#child);
    this.#parser = makeParser(
      () => this.#running?.tally ?? this.#after,
      (figures) => this.#finish(figures),
    );
    this.#parser.on('complete', (results) => {
      this.#final = results;
    });
    this.#child.stdout.on('data', (chunk) => this.#parser.write(chunk));
    this.#child.stderr.on('data', (chunk) => {
      this.#stderr += chunk;
    });
    this.#child.once('error', (error) => {
      this.#stderr += error.message;
    });
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => resolve(this.#close(code, signal)));
    });
  }

  /** assertions while no file runs */
  #after = emptyTally();

  run({ file, name }) {
    this.#names.push(name);
    this.#limit.restart();
    return new Promise((resolve) => {
      this.#running = { name, tally: emptyTally(), resolve, since: performance.now() };
      this.#child.send({ file }, (error) => error && this.#child.kill());
    });
  }

  #finish(figures) {
    const [processor, seconds, resident] = figures.split(' ').map(Number);
    const { name, tally, resolve } = this.#running;
    fail(tally, asksNothing(tally));
    this.#hasFailed ||= tally.failed > 0;
    this.#running = undefined;
    this.#limit.stop();
    if (resident > MAX_RESIDENT_BYTES || this.#names.length >= MAX_TOGETHER) this.end();
    resolve({ name, tally, stderr: this.#stderr, seconds, processor });
    this.#stderr = '';
  }

  /** Ends the process after its current file. */
  end() {
    this.isUsable = false;
    this.#limit.restart();
    if (this.#child.connected) this.#child.send({}, () => undefined);
  }

  #close(code, signal) {
    this.isUsable = false;
    this.#limit.stop();
    this.#parser.end();
    const end = `${this.#limit.isLate ? `${LATE}, ` : ''}${asText(code, signal)}`;
    const company = `in one process with ${this.#names.join(', ')}`;
    if (this.#running) {
      const { name, tally, resolve, since } = this.#running;
      fail(tally, `${end}, ${company}`);
      resolve({ name, tally, stderr: this.#stderr, seconds: (performance.now() - since) / 1000, processor: 0 });
      return undefined;
    }
    const tally = this.#after;
    if (!this.#hasFailed) fail(tally, code !== 0 && end, this.#final?.ok !== true && 'the TAP it printed is not ok');
    if (tally.failed === 0) return undefined;
    return { name: `(after all of them, ${company})`, tally, stderr: this.#stderr, seconds: 0, processor: 0 };
  }
}

/** Runs files one at a time; those that may share a process run in one that is kept for the next. */
export class Lane {
  #manner;
  #together;
  /** the ends of all processes that it has started */
  #all = [];

  constructor(manner) {
    this.#manner = manner;
  }

  run(file) {
    if (!file.mayShare) return runAlone(file, this.#manner);
    if (!this.#together?.isUsable) {
      this.#together = new Together(this.#manner);
      this.#all.push(this.#together.ended);
    }
    return this.#together.run(file);
  }

  /** @returns results of processes that ended badly after their files */
  async end() {
    if (this.#together?.isUsable) this.#together.end();
    return (await Promise.all(this.#all)).filter(Boolean);
  }
}
