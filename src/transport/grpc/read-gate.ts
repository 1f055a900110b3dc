/** Messages of a stream that may wait for their answers; by the contract the server reads no further until one left. */
export const MAX_UNANSWERED = 4;

/**
 * Lets reads through while fewer than {@link MAX_UNANSWERED} messages wait for an answer. A read takes its place when it
 * is asked for, not when its message comes, because what was asked for cannot be taken back.
 */
export class ReadGate {
  #taken = 0;
  #held: (() => void)[] = [];

  /** Reads now, or once there is room. */
  pass(read: () => void): void {
    if (this.#taken >= MAX_UNANSWERED) {
      this.#held.push(read);
      return;
    }
    this.#taken++;
    read();
  }

  /** A message was answered. */
  release(): void {
    this.#taken--;
    const next = this.#held.shift();
    if (next) this.pass(next);
  }
}
