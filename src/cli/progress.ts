import type { Progress } from '../contract/report.js';
import type { UntangleProgress } from '../contract/untangle.js';
import { formatPlural, formatSeconds } from './format.js';
import type { Sink } from './terminal.js';

const barWidth = 24;
/** Redrawing more than ten times per second only causes flicker. */
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
 * How close the run is to its end, in [0, 1]. It ends when the residual has fallen to ε, which it does geometrically
 * (hence the logarithm), or at the step limit; the bar shows the nearer of the two.
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

/** A residual of 1 is the whole motion; the run ends at ε (0.01 % by default). */
function formatResidual(residual: number): string {
  const percent = residual * 100;
  return `${percent >= 10 || percent === 0 ? percent.toFixed(0) : percent.toPrecision(2)} %`;
}

export const describeProgress = (progress: Progress): string =>
  [
    formatPlural(progress.steps, 'step'),
    `residual ${formatResidual(progress.residual)}`,
    `${formatPlural(progress.unfinishedVertices, 'vertex', 'vertices')} unfinished`,
  ].join('  ');

const UNTANGLE_PHASES = { PULLING_BACK: 'pulling back', CHECKING_ANSWER: 'checking' } as const;

export function describeUntangling({ phase, iteration, pierces, contours }: UntangleProgress): string {
  if (phase !== 'UNTANGLING') return UNTANGLE_PHASES[phase];
  return `iteration ${iteration}: ${formatPlural(pierces, 'pierce')} in ${formatPlural(contours, 'contour')}`;
}

/** The line without control characters, cut to the terminal's width so that it never wraps. */
export function renderProgress(progress: Progress, bounds: RunBounds, elapsedMs: number, columns: number): string {
  const line = [
    renderBar(fractionDone(progress, bounds)),
    describeProgress(progress),
    formatSeconds(elapsedMs / 1000),
  ].join('  ');
  return line.slice(0, Math.max(0, columns - 1));
}

const waitingText = (text: string) => (elapsedMs: number, columns: number) =>
  `${text}  ${formatSeconds(elapsedMs / 1000)}`.slice(0, Math.max(0, columns - 1));

/** One line of a terminal, drawn in place. Writes nothing if the output is not a terminal. */
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
    this.text = waitingText(waiting);
  }

  /** Updates the elapsed time while no progress is reported. */
  start(): this {
    if (this.isVisible) this.ticker = setInterval(() => this.draw(), redrawEveryMs).unref();
    return this;
  }

  show(progress: Progress, bounds: RunBounds): void {
    this.text = (elapsedMs, columns) => renderProgress(progress, bounds, elapsedMs, columns);
    this.draw();
  }

  /** Replaces the text in front of the elapsed time. */
  say(text: string): void {
    this.text = waitingText(text);
    this.draw();
  }

  /** Removes the line, so that subsequent output starts on an empty one. */
  clear(): void {
    clearInterval(this.ticker);
    if (this.isDrawn) this.sink.write(`${toLineStart}${clearToLineEnd}`);
    this.isDrawn = false;
  }

  private get isVisible(): boolean {
    return this.isWanted && this.sink.isTerminal;
  }

  private draw(): void {
    const now = this.now();
    if (!this.isVisible || now - this.drawnAt < redrawEveryMs) return;
    this.drawnAt = now;
    this.isDrawn = true;
    this.sink.write(`${toLineStart}${this.text(now - this.startedAt, this.sink.columns)}${clearToLineEnd}`);
  }
}
