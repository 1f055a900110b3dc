import type { JobPhase } from '../../contract/long-jobs.js';
import type { UntanglePhase } from '../../contract/untangle.js';
import { formatNumber, formatPlural } from '../format.js';
import type { RunStatus } from '../service/service.js';
import { byId } from './dom.js';

/** Time after which the page shows that it computes or reads, milliseconds: showing it for less would only flicker. */
export const BUSY_AFTER_MS = 250;

const PHASES: Readonly<Record<JobPhase, string>> = {
  START_CHECK: 'The service tests the start…',
  SOLVING: 'The service computes…',
  ANSWER_CHECK: 'The service tests the answer…',
};

const UNTANGLE_PHASES: Readonly<Record<UntanglePhase, string>> = {
  UNTANGLING: 'The service untangles…',
  PULLING_BACK: 'The service pulls the mesh back…',
  CHECKING_ANSWER: 'The service tests the answer…',
};

/**
 * Shows the card that says what the page does.
 *
 * @param text is read out by screen readers whenever it changes @param note is not, so it may contain a clock
 */
export function showBusy(text: string, note: string): void {
  byId('busy').hidden = false;
  const said = byId('busy-text');
  // Writing the same text again would have it read out again.
  if (said.textContent !== text) said.textContent = text;
  byId('busy-note').textContent = note;
}

/** Shows that a computation runs, since when, and its progress. */
export class Busy {
  #clock: ReturnType<typeof setInterval> | undefined;
  #status: RunStatus | undefined;
  #isKept = false;

  /** @param vertices of the mesh */
  start(vertices: number): void {
    this.stop();
    const since = performance.now();
    this.#clock = setInterval(() => {
      const seconds = (performance.now() - since) / 1000;
      const note = [
        `${seconds.toFixed(seconds < 60 ? 1 : 0)} s`,
        formatPlural(vertices, 'vertex', 'vertices'),
        ...this.#words(),
      ];
      this.say(this.#phase(), note.join(', '));
      byId('busy-kept').hidden = !this.#isKept;
    }, BUSY_AFTER_MS);
  }

  /** @param status of the job, as last reported by the service */
  progress(status: RunStatus): void {
    this.#status = status;
  }

  /** Shows that the job survives a reload of the page. */
  keep(): void {
    this.#isKept = true;
  }

  stop(): void {
    clearInterval(this.#clock);
    this.#status = undefined;
    this.#isKept = false;
    byId('busy').hidden = true;
    byId('busy-kept').hidden = true;
  }

  say(text: string, note: string): void {
    showBusy(text, note);
  }

  #phase(): string {
    const { state, phase, ahead, untangleProgress } = this.#status ?? {};
    if (untangleProgress) return UNTANGLE_PHASES[untangleProgress.phase];
    if (state !== 'JOB_WAITING') return PHASES[phase ?? 'SOLVING'];
    return ahead ? `Waiting behind ${formatPlural(ahead, 'request')}…` : 'Waiting for its turn…';
  }

  #words(): string[] {
    const { progress, untangleProgress } = this.#status ?? {};
    if (untangleProgress) {
      const { iteration, pierces, contours } = untangleProgress;
      return [`iteration ${iteration}`, formatPlural(pierces, 'pierce'), formatPlural(contours, 'contour')];
    }
    if (!progress) return [];
    const { steps, residual, unfinishedVertices } = progress;
    return [
      `step ${steps}`,
      `residual ${formatNumber(residual)}`,
      `${formatPlural(unfinishedVertices, 'vertex', 'vertices')} under way`,
    ];
  }
}
