import type { StepRecord } from './records.js';

const WIDTH = 24;
/** ms between two lines if there is no terminal to redraw */
const LINE_MS = 10_000;

/** One line about a scene that is being played: redrawn in a terminal, otherwise repeated from time to time. */
export class Progress {
  readonly #began = performance.now();
  /** the frame before the first one that was shown */
  #first: number | undefined;
  #last = 0;
  #shown = 0;

  constructor(private readonly name: string) {}

  show(record: StepRecord, of: number): void {
    this.tell(record.frame, of, `${record.steps} steps, ${record.cost.toFixed(3)} s, ${record.statuses.at(-1)}`);
  }

  /** @param last description of the last frame */
  tell(frame: number, of: number, last: string): void {
    this.#first ??= frame - 1;
    const now = performance.now();
    const isTerminal = process.stderr.isTTY === true;
    if (!isTerminal && now - this.#last < LINE_MS && frame < of) return;
    this.#last = now;
    this.#shown++;
    const left = ((now - this.#began) / (frame - this.#first) / 1000) * (of - frame);
    const done = Math.round((WIDTH * frame) / of);
    const bar = `${'█'.repeat(done)}${'░'.repeat(WIDTH - done)}`;
    const line = `${this.name} ${bar} ${frame}/${of}, ${Math.ceil(left)} s left; last: ${last}`;
    process.stderr.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
  }

  end(): void {
    if (this.#shown > 0 && process.stderr.isTTY) process.stderr.write('\n');
  }
}
