import type { StepRecord } from './records.js';

const WIDTH = 24;
/** ms between two lines where there is no terminal to redraw */
const LINE_MS = 10_000;

/** One line about a scene that is being played: redrawn in a terminal, else repeated now and then. */
export class Progress {
  readonly #began = performance.now();
  #last = 0;
  #steps = 0;
  #shown = 0;

  constructor(private readonly name: string) {}

  show(record: StepRecord, of: number): void {
    this.#steps++;
    const now = performance.now();
    const isTerminal = process.stderr.isTTY === true;
    if (!isTerminal && now - this.#last < LINE_MS && record.frame < of) return;
    this.#last = now;
    this.#shown++;
    const left = ((now - this.#began) / this.#steps / 1000) * (of - record.frame);
    const done = Math.round((WIDTH * record.frame) / of);
    const bar = `${'█'.repeat(done)}${'░'.repeat(WIDTH - done)}`;
    const state = `${record.steps} steps, ${record.cost.toFixed(3)} s, ${record.statuses.at(-1)}`;
    const line = `${this.name} ${bar} ${record.frame}/${of}, ${Math.ceil(left)} s left; last: ${state}`;
    process.stderr.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
  }

  end(): void {
    if (this.#shown > 0 && process.stderr.isTTY) process.stderr.write('\n');
  }
}
