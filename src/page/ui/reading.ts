import { BUSY_AFTER_MS, showBusy } from './busy.js';
import { byId } from './dom.js';

/** The user has stopped the reading of files. */
export class ReadingCanceled extends Error {}

/**
 * Says which file is read, and how far: in the dialog for files if it is open, otherwise in the card that says what the
 * page does, unless that shows a computation. The button of the card, or closing the dialog, stops the reading.
 */
export class Reading {
  readonly #begun = performance.now();
  readonly #dialog = byId<HTMLDialogElement>('open-dialog');
  readonly #isInDialog = this.#dialog.open;
  readonly #listeners = new AbortController();
  #hasCard = false;
  #isCanceled = false;

  constructor() {
    const { signal } = this.#listeners;
    const cancel = () => {
      this.#isCanceled = this.#hasCard || this.#isInDialog;
    };
    byId('cancel').addEventListener('click', cancel, { signal });
    this.#dialog.addEventListener('close', cancel, { signal });
  }

  /** @throws ReadingCanceled */
  assertWanted(): void {
    if (this.#isCanceled) throw new ReadingCanceled();
  }

  /** Call before each piece of a file. @param share of the file that has been read @throws ReadingCanceled */
  piece(name: string, share: number): void {
    this.assertWanted();
    if (performance.now() - this.#begun < BUSY_AFTER_MS) return;
    const text = `${name}, ${Math.floor(100 * share)} %`;
    if (this.#isInDialog) byId('open-note').textContent = `Reading ${text}`;
    else if (this.#hasCard || byId('busy').hidden) {
      this.#hasCard = true;
      showBusy('Reading the files…', text);
    }
  }

  end(): void {
    this.#listeners.abort();
    if (this.#hasCard) byId('busy').hidden = true;
    if (this.#isInDialog) byId('open-note').textContent = '';
  }
}
