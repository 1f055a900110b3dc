import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import {
  BOARD,
  BOARD_WORDS,
  CONTROL,
  countAwake,
  createControl,
  MAX_HELPERS,
  noteEnd,
  viewControl,
} from './control.js';
import type { PortsMessage, TeamLink } from './team.js';

export interface HelperSetup {
  readonly board: SharedArrayBuffer;
  /** 1 … MAX_HELPERS; slot 0 is the owner of the run */
  readonly slot: number;
}

/** Makes a thread known to a helper. */
export interface LaneMessage {
  readonly control: SharedArrayBuffer;
  readonly port: MessagePort;
}

/**
 * The helpers of a process: one fewer than there are cores. They start when a thread first needs them, serve whichever
 * thread has a run, and sleep otherwise. No more threads compute than `cores` allows: a thread with work of its own
 * counts, and helpers withdraw after their chunk if there are too many threads.
 *
 * The thread that owns the pool notices when a helper's thread ends, so it should not compute for long itself.
 */
export class HelperPool {
  readonly #board: Int32Array;
  readonly #count: number;
  #helpers: Worker[] = [];
  #isClosed = false;
  /** whether a warning has reported that threads are missing */
  #lacksThreads = false;

  /** @param cores largest number of threads that compute at the same time, ≥ 1; with 1 there are no helpers */
  constructor(cores = availableParallelism()) {
    this.#board = new Int32Array(new SharedArrayBuffer(4 * BOARD_WORDS));
    this.#board[BOARD.cores] = cores;
    this.#count = Math.min(MAX_HELPERS, cores - 1);
  }

  /** @returns the data with which a thread joins; transfer its port, and call `forget` when the thread has ended */
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
      // The chunks that the thread left must not be computed.
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

  /** Helpers that are awake: cores that they take from one another, and from threads that would ring for them. */
  get awake(): number {
    return countAwake(this.#board);
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

  /** Wakes every helper, so that it reads its messages. */
  #ring(): void {
    Atomics.add(this.#board, BOARD.bell, 1);
    Atomics.notify(this.#board, BOARD.bell);
  }

  /** If the system provides no more threads, the existing ones help; the next thread that needs helpers tries again. */
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
      // A thread inherits the flags of the process, but --input-type (`node --input-type=module -e …`) allows no file.
      ...(process.execArgv.some((flag) => flag.startsWith('--input-type')) ? { execArgv: [] } : {}),
    });
    // A thread that waits for the helper sees that it has ended; others compute without it.
    const end = (): void => noteEnd(this.#board, index);
    helper.on('error', (thrown) => {
      end();
      process.emitWarning(`A helper thread ended: ${thrown}`, { code: 'INTERSTICE_HELPER' });
    });
    helper.on('exit', end);
    helper.unref();
    this.#helpers.push(helper);
  }
}
