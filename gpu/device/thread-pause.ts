/** The longest pause, in milliseconds: a software driver takes ten times as long for a batch of steps, or longer. */
export const MAX_PAUSE_MS = 0.5;
/** A pause takes at most this share of the time waited so far, so that a short wait does not become much longer. */
const MAX_PAUSE_SHARE = 1 / 16;

/** No code writes to this memory: waiting for it to change is sleeping. */
const never = new Int32Array(new SharedArrayBuffer(4));

const sleep = (milliseconds: number): void => {
  Atomics.wait(never, 0, 0, milliseconds);
};

/**
 * Yields the processor while a software driver computes. On every turn of the event loop, without a pause, Dawn's
 * binding polls whether one of its promises is due: while the device works, this thread occupies a whole processor. A
 * software driver computes on the same processors; with two of them a step took up to twice as long. Hence, while
 * anything is awaited, the thread sleeps for a moment on every turn.
 *
 * The pause blocks the event loop: a timer or a message is late by at most MAX_PAUSE_MS.
 */
export class ThreadPause {
  readonly #pause: (milliseconds: number) => void;
  readonly #now: () => number;
  #waiting = 0;
  #since = 0;
  #isScheduled = false;

  /** Tests set the parameters. @param pause blocks the thread for this long; @param now milliseconds */
  constructor(pause: (milliseconds: number) => void = sleep, now: () => number = () => performance.now()) {
    this.#pause = pause;
    this.#now = now;
  }

  /** Pauses the thread on every turn until the work is done. Returns or throws like the work. */
  async during<T>(work: Promise<T>): Promise<T> {
    if (this.#waiting++ === 0) this.#since = this.#now();
    this.#schedule();
    try {
      return await work;
    } finally {
      this.#waiting--;
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting === 0) return;
    this.#isScheduled = true;
    const immediate = setImmediate(() => {
      this.#isScheduled = false;
      if (this.#waiting === 0) return;
      this.#pause(Math.min(MAX_PAUSE_MS, MAX_PAUSE_SHARE * (this.#now() - this.#since)));
      this.#schedule();
    });
    // The awaited work keeps the process alive, not the pauses.
    immediate.unref();
  }
}
