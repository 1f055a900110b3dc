import { IntersticeError } from '../contract/errors.js';

/** `hindered`: ready, but something outside this process is missing; `leaving`: still serving, before `draining`. */
export type Phase = 'starting' | 'ready' | 'hindered' | 'failed' | 'leaving' | 'draining';

/** Whether this server takes requests, and how many are in progress. The server sets the phase; transports read it. */
export class ServiceState {
  #phase: Exclude<Phase, 'hindered'> = 'starting';
  #hindrance: string | undefined;
  #reason = 'The service is starting.';
  #inFlight = 0;
  #answersAboutJobs = false;
  #idleListeners: (() => void)[] = [];
  readonly #overListeners = new Set<() => void>();
  readonly #phaseListeners = new Set<(phase: Phase) => void>();

  get phase(): Phase {
    return this.#phase === 'ready' && this.#hindrance !== undefined ? 'hindered' : this.#phase;
  }

  /** Explains the phase in one sentence. */
  get reason(): string {
    return this.phase === 'hindered' ? this.#hindrance! : this.#reason;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Changes the phase. Leaving ends in draining, which is final: a late "ready" is ignored. */
  move(phase: Exclude<Phase, 'hindered'>, reason: string): void {
    if (this.#phase === 'draining' || (this.#phase === 'leaving' && phase !== 'draining')) return;
    this.#phase = phase;
    this.#reason = reason;
    this.#notify();
  }

  /** Reports that something outside this process that it needs is missing; undefined = no longer. */
  hinder(reason: string | undefined): void {
    this.#hindrance = reason;
    this.#notify();
  }

  #notify(): void {
    for (const listener of [...this.#phaseListeners]) listener(this.phase);
  }

  /** Calls back at every change of the phase. @returns a function that ends this */
  watch(listener: (phase: Phase) => void): () => void {
    this.#phaseListeners.add(listener);
    return () => void this.#phaseListeners.delete(listener);
  }

  /** Calls back when the drain time is over: requests that are incomplete by then are refused. @returns stops that */
  whenOver(listener: () => void): () => void {
    this.#overListeners.add(listener);
    return () => void this.#overListeners.delete(listener);
  }

  /** The drain time is over. */
  refuseUnread(): void {
    for (const listener of [...this.#overListeners]) listener();
    this.#overListeners.clear();
  }

  enter(): void {
    this.#inFlight++;
  }

  leave(): void {
    this.#inFlight--;
    if (this.#inFlight > 0) return;
    for (const listener of this.#idleListeners.splice(0)) listener();
  }

  /** From now on requests about existing jobs are answered while the server shuts down. */
  keepAnsweringAboutJobs(): void {
    this.#answersAboutJobs = true;
  }

  /** @param isAboutJobs whether the request is about an existing job @throws DRAINING while the server shuts down */
  refuseIfDraining(isAboutJobs = false): void {
    if (this.#phase !== 'draining' || (isAboutJobs && this.#answersAboutJobs)) return;
    throw drainingError(this.#reason);
  }

  /** Resolves when no request is in progress. */
  idle(): Promise<void> {
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleListeners.push(resolve));
  }
}

export const drainingError = (reason: string): IntersticeError =>
  new IntersticeError('DRAINING', reason, { retryAfterSeconds: 1 });
