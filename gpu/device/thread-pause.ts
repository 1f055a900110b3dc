/** The longest rest, in milliseconds: a batch of steps takes a software driver ten times as long and more. */
export const LONGEST_MS = 0.5;
/** A rest is at most this share of the time waited so far, so that what is short is not made much longer. */
const LONGEST_SHARE = 1 / 16;

/** Nobody writes to it: waiting for it to change is sleeping. */
const never = new Int32Array(new SharedArrayBuffer(4));

const sleep = (milliseconds: number): void => {
  Atomics.wait(never, 0, 0, milliseconds);
};

/**
 * Dawn's binding asks on every turn of the event loop whether one of its promises is due, without a pause: as long as the
 * device works, this thread takes a whole processor. A software driver computes on the same ones; on two of them a
 * step took up to twice as long for it. So while something is waited for, the thread rests a moment on every turn.
 *
 * It blocks the event loop for that moment: a timer or a message is late by LONGEST_MS at most.
 */
export class Rest {
  readonly #pause: (milliseconds: number) => void;
  readonly #now: () => number;
  #waiting = 0;
  #since = 0;
  #isTurning = false;

  /** @param pause blocks the thread so long; @param now milliseconds; others only in tests */
  constructor(pause: (milliseconds: number) => void = sleep, now: () => number = () => performance.now()) {
    this.#pause = pause;
    this.#now = now;
  }

  /** Rests until the work is done. Nothing else changes: what it gives or throws is the work's. */
  async during<T>(work: Promise<T>): Promise<T> {
    if (this.#waiting++ === 0) this.#since = this.#now();
    this.#turn();
    try {
      return await work;
    } finally {
      this.#waiting--;
    }
  }

  #turn(): void {
    if (this.#isTurning || this.#waiting === 0) return;
    this.#isTurning = true;
    const immediate = setImmediate(() => {
      this.#isTurning = false;
      if (this.#waiting === 0) return;
      this.#pause(Math.min(LONGEST_MS, LONGEST_SHARE * (this.#now() - this.#since)));
      this.#turn();
    });
    // Whoever waits keeps the process alive, not the resting.
    immediate.unref();
  }
}
