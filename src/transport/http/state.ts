export type Phase = 'starting' | 'ready' | 'failed' | 'draining';

/** Whether this server takes work, and how much it has. The composition root moves it, the door reads it. */
export class ServiceState {
  #phase: Phase = 'starting';
  #reason = 'The service is starting.';
  #inFlight = 0;
  #whenIdle: (() => void)[] = [];
  readonly #watchers = new Set<(phase: Phase) => void>();

  get phase(): Phase {
    return this.#phase;
  }

  /** A sentence for people. */
  get reason(): string {
    return this.#reason;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Draining is final: a late "ready" does not take it back. */
  move(phase: Phase, reason: string): void {
    if (this.#phase === 'draining') return;
    this.#phase = phase;
    this.#reason = reason;
    for (const tell of [...this.#watchers]) tell(phase);
  }

  /** Calls back at every move from now on, until the answer of this is called. */
  watch(tell: (phase: Phase) => void): () => void {
    this.#watchers.add(tell);
    return () => void this.#watchers.delete(tell);
  }

  enter(): void {
    this.#inFlight++;
  }

  leave(): void {
    this.#inFlight--;
    if (this.#inFlight > 0) return;
    for (const tell of this.#whenIdle.splice(0)) tell();
  }

  /** Resolves once no request is at work. */
  idle(): Promise<void> {
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }
}
