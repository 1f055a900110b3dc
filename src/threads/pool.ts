import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { BOARD, BOARD_WORDS, CONTROL, createControl, MAX_HELPERS, viewControl } from './control.js';
import type { PortsMessage, TeamLink } from './team.js';

export interface HelperSetup {
  readonly board: SharedArrayBuffer;
  /** 1 … MAX_HELPERS; slot 0 is the thread that asks */
  readonly slot: number;
}

/** Makes a thread known to a helper. */
export interface LaneMessage {
  readonly control: SharedArrayBuffer;
  readonly port: MessagePort;
}

/**
 * The helpers of a process: one thread a core, less the one that asks. They start when a thread first asks for them, serve
 * whichever thread has a run, and sleep otherwise. No more threads compute than `cores` allows: a thread with work of its own
 * counts, and helpers withdraw after their chunk where they are too many.
 *
 * The thread that owns the pool notices when a helper's thread ends, so it should not compute for long itself.
 */
export class HelperPool {
  readonly #board: Int32Array;
  readonly #count: number;
  #helpers: Worker[] = [];
  #isClosed = false;
  /** a warning has said so */
  #lacksThreads = false;

  /** @param cores most threads that compute at the same time, ≥ 1; with 1 there are no helpers */
  constructor(cores = availableParallelism()) {
    this.#board = new Int32Array(new SharedArrayBuffer(4 * BOARD_WORDS));
    this.#board[BOARD.cores] = cores;
    this.#count = Math.min(MAX_HELPERS, cores - 1);
  }

  /** @returns what a thread needs to join, its port to be transferred; `forget` must be called when the thread has ended */
  connect(): { readonly link: TeamLink; readonly forget: () => void } {
    const { port1, port2 } = new MessageChannel();
    const control = createControl();
    port1.on('message', () => {
      const answer = { ports: this.#introduce(control) } satisfies PortsMessage;
      port1.postMessage(answer, [...answer.ports]);
    });
    port1.unref();
    const link = { board: this.#board.buffer as SharedArrayBuffer, control, port: port2 };
    const forget = (): void => {
      port1.close();
      const { words } = viewControl(control);
      if (Atomics.exchange(words, CONTROL.busy, 0) === 1) Atomics.sub(this.#board, BOARD.busy, 1);
      // What the thread left behind must not be computed by anybody.
      Atomics.store(words, CONTROL.next, Atomics.load(words, CONTROL.limit));
      Atomics.store(words, CONTROL.gone, 1);
      this.#ring();
    };
    return { link, forget };
  }

  /** Helpers whose threads are ready. */
  get ready(): number {
    return Atomics.load(this.#board, BOARD.ready);
  }

  /** Ends every helper. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#helpers.map((helper) => helper.terminate()));
    this.#helpers = [];
  }

  #introduce(control: SharedArrayBuffer): MessagePort[] {
    if (this.#isClosed) return [];
    this.#startAll();
    const ports = this.#helpers.map((helper) => {
      const { port1, port2 } = new MessageChannel();
      helper.postMessage({ control, port: port2 } satisfies LaneMessage, [port2]);
      return port1;
    });
    this.#ring();
    return ports;
  }

  /** Wakes every helper, to read what has been sent to it. */
  #ring(): void {
    Atomics.add(this.#board, BOARD.bell, 1);
    Atomics.notify(this.#board, BOARD.bell);
  }

  /** Where the system gives no more threads, those that there are help; the next thread that asks tries again. */
  #startAll(): void {
    try {
      while (this.#helpers.length < this.#count) this.#start();
    } catch (thrown) {
      if (!this.#lacksThreads) {
        const has = `${this.#helpers.length} of ${this.#count} helper threads`;
        process.emitWarning(`Only ${has} could be started: ${thrown}`, { code: 'INTERSTICE_HELPER' });
      }
      this.#lacksThreads = true;
    }
  }

  #start(): void {
    const index = this.#helpers.length;
    const helper = new Worker(new URL('./helper.js', import.meta.url), {
      workerData: { board: this.#board.buffer as SharedArrayBuffer, slot: index + 1 } satisfies HelperSetup,
      // A thread inherits the flags of the process. --input-type (`node --input-type=module -e …`) does not allow a file.
      ...(process.execArgv.some((flag) => flag.startsWith('--input-type')) ? { execArgv: [] } : {}),
    });
    // Whoever waits for it learns that it is gone; the others compute without it.
    const end = (): void => {
      Atomics.store(this.#board, BOARD.ended + index, 1);
    };
    helper.on('error', (thrown) => {
      end();
      process.emitWarning(`A helper thread ended: ${thrown}`, { code: 'INTERSTICE_HELPER' });
    });
    helper.on('exit', end);
    helper.unref();
    this.#helpers.push(helper);
  }
}
