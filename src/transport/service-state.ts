import { IntersticeError } from '../contract/errors.js';

export type Phase = 'starting' | 'ready' | 'failed' | 'draining';

/** Whether this server takes requests, and how many are in progress. The server sets the phase, the transports read it. */
export class ServiceState {
  #phase: Phase = 'starting';
  #reason = 'The service is starting.';
  #inFlight = 0;
  #idleListeners: (() => void)[] = [];
  readonly #overListeners = new Set<() => void>();
  readonly #phaseListeners = new Set<(phase: Phase) => void>();

  get phase(): Phase {
    return this.#phase;
  }

  /** Explains the phase in one sentence. */
  get reason(): string {
    return this.#reason;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Changes the phase. Draining is final: a late "ready" is ignored. */
  move(phase: Phase, reason: string): void {
    if (this.#phase === 'draining') return;
    this.#phase = phase;
    this.#reason = reason;
    for (const listener of [...this.#phaseListeners]) listener(phase);
  }

  /** Calls back at every change of the phase. @returns stops that */
  watch(listener: (phase: Phase) => void): () => void {
    this.#phaseListeners.add(listener);
    return () => void this.#phaseListeners.delete(listener);
  }

  /** Calls back when the drain time is over: what has not arrived by then is refused. @returns stops that */
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

  /** @throws DRAINING while the server shuts down */
  refuseIfDraining(): void {
    if (this.#phase === 'draining') throw drainingError(this.#reason);
  }

  /** Resolves when no request is in progress. */
  idle(): Promise<void> {
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleListeners.push(resolve));
  }
}

export const drainingError = (reason: string): IntersticeError =>
  new IntersticeError('DRAINING', reason, { retryAfterSeconds: 1 });
