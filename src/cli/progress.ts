import type { Progress } from '../contract/report.js';
import { formatPlural, formatSeconds } from './format.js';
import type { Sink } from './terminal.js';

const barWidth = 24;
/** A redraw more often than ten times a second flickers and tells nothing more. */
const redrawEveryMs = 100;
const toLineStart = '\r';
const clearToLineEnd = '\u001b[K';

export interface RunBounds {
  /** ε */
  readonly residualTolerance: number;
  /** L */
  readonly stepLimit: number;
}

/**
 * How close the run is to an end, in [0, 1]. It ends when the residual has fallen to ε, which it does geometrically (hence
 * the logarithm), or at the step limit; the bar shows the nearer of the two ends.
 */
export function fractionDone(progress: Progress, bounds: RunBounds): number {
  const residual = Math.min(1, Math.max(progress.residual, bounds.residualTolerance));
  const byResidual = Math.log(residual) / Math.log(bounds.residualTolerance);
  const bySteps = progress.steps / bounds.stepLimit;
  return Math.min(1, Math.max(byResidual, bySteps));
}

export function renderBar(fraction: number): string {
  const full = Math.round(fraction * barWidth);
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}]`;
}

/** A residual of 1 is all of the motion, ε (0.01 % by default) is the end. */
function formatResidual(residual: number): string {
  const percent = residual * 100;
  return `${percent >= 10 || percent === 0 ? percent.toFixed(0) : percent.toPrecision(2)} %`;
}

/** The line without control characters, cut to the terminal's width so that it never wraps. */
export function renderProgress(progress: Progress, bounds: RunBounds, elapsedMs: number, columns: number): string {
  const line = [
    renderBar(fractionDone(progress, bounds)),
    formatPlural(progress.steps, 'step'),
    `residual ${formatResidual(progress.residual)}`,
    `${formatPlural(progress.unfinishedVertices, 'vertex', 'vertices')} unfinished`,
    formatSeconds(elapsedMs / 1000),
  ].join('  ');
  return line.slice(0, Math.max(0, columns - 1));
}

/** One line of a terminal that is drawn over itself; on anything but a terminal it stays silent. */
export class StatusLine {
  private readonly startedAt: number;
  private drawnAt = Number.NEGATIVE_INFINITY;
  private isDrawn = false;
  private ticker: NodeJS.Timeout | undefined;
  private text: (elapsedMs: number, columns: number) => string;

  constructor(
    private readonly sink: Sink,
    private readonly now: () => number,
    waiting: string,
    private readonly isWanted = true,
  ) {
    this.startedAt = now();
    this.text = (elapsedMs, columns) =>
      `${waiting}  ${formatSeconds(elapsedMs / 1000)}`.slice(0, Math.max(0, columns - 1));
  }

  /** Keeps the elapsed time moving while nothing else does. */
  start(): this {
    if (this.isSeen) this.ticker = setInterval(() => this.draw(), redrawEveryMs).unref();
    return this;
  }

  show(progress: Progress, bounds: RunBounds): void {
    this.text = (elapsedMs, columns) => renderProgress(progress, bounds, elapsedMs, columns);
    this.draw();
  }

  /** Removes the line, so that what follows starts on a clean one. */
  clear(): void {
    clearInterval(this.ticker);
    if (this.isDrawn) this.sink.write(`${toLineStart}${clearToLineEnd}`);
    this.isDrawn = false;
  }

  private get isSeen(): boolean {
    return this.isWanted && this.sink.isTerminal;
  }

  private draw(): void {
    const now = this.now();
    if (!this.isSeen || now - this.drawnAt < redrawEveryMs) return;
    this.drawnAt = now;
    this.isDrawn = true;
    this.sink.write(`${toLineStart}${this.text(now - this.startedAt, this.sink.columns)}${clearToLineEnd}`);
  }
}
