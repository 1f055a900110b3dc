import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import {
  awaitTurn,
  BOARD,
  CONTROL,
  type Control,
  changesSoon,
  claim,
  countAwake,
  endTurn,
  type HelperMessage,
  MAX_ARGUMENTS,
  MAX_SLOTS,
  NO_BUFFER,
  sleep,
  TURN_INTERVAL,
  VIEW_TYPES,
  viewControl,
} from './control.js';
import { argumentsOf } from './kernel-arguments.js';
import { SharedMemory } from './memory.js';
import type { AnyStage, Arrays, Numbers, SharedView, Stage } from './stage.js';

/** Plain data with which a thread reaches the helpers of its process, sent to the thread when it starts. */
export interface TeamLink {
  /** the board */
  readonly board: SharedArrayBuffer;
  /** of this thread only */
  readonly control: SharedArrayBuffer;
  /** accepts one message of any content, and answers with one {@link PortsMessage} */
  readonly port: MessagePort;
}

/** One port per helper, in the order of their slots. */
export interface PortsMessage {
  readonly ports: readonly MessagePort[];
}

/** Cost of a run, in nanoseconds of one thread, from which helpers are started: they take some 50 ms of a core each. */
const WORTH_STARTING = 4e6;

/** Cost of a run from which helpers take part. Waking a helper and waiting for it costs about ten microseconds. */
const WORTH_SHARING = 4e5;

/** Milliseconds between two checks whether a computing helper has ended. */
const LOOK_INTERVAL = 200;

/**
 * Number of checks in a row without progress after which a helper counts as lost although its thread has not ended. A
 * chunk takes about a millisecond, so a thread that makes no progress for five minutes has been stopped.
 */
const MAX_IDLE_LOOKS = 1500;

/** A helper ended, or stopped permanently, while it was computing. The results of the run are incomplete. */
export class HelperLost extends Error {
  constructor() {
    super('A thread that helped with this computation was lost.');
    this.name = 'HelperLost';
  }
}

/** One run of a stage. */
export interface Work<A extends Arrays<A>, N extends Numbers<N>> {
  readonly stage: Stage<A, N>;
  readonly arrays: A;
  readonly numbers: N;
  /** items 0 … count − 1 */
  readonly count: number;
  /**
   * items that a thread takes at a time; results must not depend on the thread that takes them, but may depend on this
   * number
   */
  readonly chunk: number;
  /** rough cost of an item in nanoseconds: decides whether the run is worth sharing */
  readonly cost: number;
  /**
   * `arrays.after`, for a run whose chunks have an order: chunk n begins when the chunks before after[n] have ended;
   * ascending, and after[n] = after[m] for all m between after[n] and n
   */
  readonly after?: Uint32Array | undefined;
  /** called by this thread before a shared run and before each of its own chunks; an exception of it ends the run */
  readonly pulse?: (() => void) | undefined;
}

/**
 * The threads that compute a stage for this thread: itself, and helpers that no other thread needs. A run is divided
 * into chunks that each thread claims. This thread always works itself, so a run needs no helper to finish; at the end
 * it waits only for chunks that helpers have claimed.
 */
export class Team {
  readonly memory = new SharedMemory();
  #link: TeamLink | undefined;
  #board: Int32Array | undefined;
  #control: Control | undefined;
  #ports: readonly MessagePort[] = [];
  #definitions = new Map<AnyStage, number>();
  #ids = new WeakMap<SharedArrayBuffer, number>();
  #lastId = 0;
  #isWorking = false;
  /** chunks that helpers have computed for this thread */
  helpedChunks = 0;

  constructor() {
    this.memory.onRelease = (buffers) => this.#forget(buffers);
  }

  /** Lets this thread use the helpers of its process from now on. They start when a run is worth it. */
  join(link: TeamLink): void {
    this.leave();
    this.#link = link;
    this.#board = new Int32Array(link.board);
    this.#control = viewControl(link.control);
  }

  /** Computes on this thread alone from now on. */
  leave(): void {
    this.setBusy(false);
    if (this.#control) Atomics.store(this.#control.words, CONTROL.gone, 1);
    for (const port of this.#ports) port.close();
    this.#link?.port.close();
    this.#link = undefined;
    this.#board = undefined;
    this.#control = undefined;
    this.#ports = [];
    this.#definitions = new Map();
    this.#ids = new WeakMap();
  }

  /** Whether arrays should be in shared memory, because helpers may take part. */
  get canShare(): boolean {
    return this.#board !== undefined && Atomics.load(this.#board, BOARD.cores) > 1;
  }

  /** Threads whose slots a kernel may be given: slot < slots. */
  get slots(): number {
    return this.#board ? Math.min(MAX_SLOTS, Atomics.load(this.#board, BOARD.cores)) : 1;
  }

  /** Sets whether this thread has work of its own. Helpers count too, so that no more threads compute than cores. */
  setBusy(isBusy: boolean): void {
    const board = this.#board;
    const words = this.#control?.words;
    if (!board || !words) return;
    const before = Atomics.exchange(words, CONTROL.busy, isBusy ? 1 : 0);
    if (before !== (isBusy ? 1 : 0)) Atomics.add(board, BOARD.busy, isBusy ? 1 : -1);
  }

  /**
   * Runs a stage to its end.
   *
   * @throws HelperLost; also errors of a kernel or of `pulse`. The results are then incomplete, and no thread writes
   *   any more, except after HelperLost: the memory of the run must then not be used again, and {@link memory} does not
   *   reuse it
   */
  run<A extends Arrays<A>, N extends Numbers<N>>(asked: Work<A, N>): void {
    const { stage, arrays, numbers } = asked;
    const own = argumentsOf(stage as unknown as AnyStage, arrays, numbers);
    // A pulse may start a run of the same stage.
    if (own.isInUse) {
      this.#compute(asked);
      return;
    }
    own.fill(arrays, numbers);
    try {
      this.#compute({ ...asked, arrays: own.arrays as unknown as A, numbers: own.numbers as unknown as N });
    } finally {
      own.empty();
    }
  }

  #compute<A extends Arrays<A>, N extends Numbers<N>>(work: Work<A, N>): void {
    const { count, chunk, cost } = work;
    const chunks = Math.ceil(count / chunk);
    const isShared = chunks > 1 && !this.#isWorking && count * cost >= WORTH_SHARING && this.#hasHelpers(count * cost);
    const words = isShared ? this.#describe(work) : undefined;
    if (!words) {
      for (let n = 0; n < chunks; n++) {
        work.pulse?.();
        computeChunk(work, n, 0);
      }
      return;
    }
    this.#isWorking = true;
    try {
      this.#share(work, words, chunks);
    } finally {
      this.#isWorking = false;
    }
  }

  #share<A extends Arrays<A>, N extends Numbers<N>>(work: Work<A, N>, words: Int32Array, chunks: number): void {
    // Helpers may claim every chunk, so the time is checked here: a run whose time is over must not begin.
    work.pulse?.();
    const board = this.#board as Int32Array;
    const base = Atomics.load(words, CONTROL.next);
    const limit = (base + chunks) | 0;
    Atomics.store(words, CONTROL.done, 0);
    Atomics.store(words, CONTROL.base, base);
    for (let slot = 0; slot < MAX_SLOTS; slot++) Atomics.store(words, CONTROL.returned + slot, 0);
    Atomics.store(words, CONTROL.ended, 0);
    Atomics.store(words, CONTROL.abandoned, 0);
    Atomics.store(words, CONTROL.limit, limit);
    Atomics.add(board, BOARD.bell, 1);
    Atomics.notify(board, BOARD.bell, Math.min(chunks - 1, freeCores(board)));
    let own = 0;
    let claimed = chunks;
    try {
      for (let n = claim(words); n >= 0; n = claim(words)) {
        own++;
        work.pulse?.();
        this.#computeInTurn(work, words, n);
      }
    } catch (thrown) {
      // No more chunks can be claimed, and claimed chunks end before any thread reuses their memory.
      claimed = (Atomics.exchange(words, CONTROL.next, limit) - base) | 0;
      Atomics.store(words, CONTROL.abandoned, 1);
      Atomics.notify(words, CONTROL.ended);
      if (!(thrown instanceof HelperLost)) this.#awaitHelpers(words, claimed - own);
      throw thrown;
    }
    // Helpers may wait for a chunk that another one has returned.
    try {
      this.#awaitHelpers(words, claimed - own, work.after && (() => this.#computeReturned(work, words)));
      this.helpedChunks += claimed - own;
      this.#computeReturned(work, words);
    } catch (thrown) {
      Atomics.store(words, CONTROL.abandoned, 1);
      Atomics.notify(words, CONTROL.ended);
      if (!(thrown instanceof HelperLost)) this.#awaitHelpers(words, claimed - own);
      throw thrown;
    }
  }

  #computeInTurn<A extends Arrays<A>, N extends Numbers<N>>(work: Work<A, N>, words: Int32Array, n: number): void {
    if (!work.after) {
      computeChunk(work, n, 0);
      return;
    }
    let looks = 0;
    awaitTurn(words, work.after[n], () => {
      this.#computeReturned(work, words);
      if (++looks * TURN_INTERVAL >= MAX_IDLE_LOOKS * LOOK_INTERVAL || this.#hasLostHelper(words)) this.#lose();
    });
    computeChunk(work, n, 0);
    endTurn(words);
  }

  /**
   * Computes chunks that helpers returned. If the kernel threw on a helper, it throws here as well, on the thread that
   * can report the error to its caller.
   */
  #computeReturned<A extends Arrays<A>, N extends Numbers<N>>(work: Work<A, N>, words: Int32Array): void {
    const returned: number[] = [];
    for (let slot = 1; slot < MAX_SLOTS; slot++) {
      const n = Atomics.exchange(words, CONTROL.returned + slot, 0) - 1;
      if (n >= 0) returned.push(n);
    }
    for (const n of returned.sort((a, b) => a - b)) this.#computeInTurn(work, words, n);
  }

  /** Waits until helpers have ended the given number of chunks. @param onWake called whenever a chunk has ended */
  #awaitHelpers(words: Int32Array, chunks: number, onWake: () => void = () => {}): void {
    let looks = 0;
    for (;;) {
      const done = Atomics.load(words, CONTROL.done);
      if (done === chunks) return;
      onWake();
      // Usually a helper is about to end its last chunk, so a short spin is enough.
      if (changesSoon(words, CONTROL.done, done)) looks = 0;
      else if (sleep(words, CONTROL.done, done, LOOK_INTERVAL)) looks = 0;
      else if (++looks >= MAX_IDLE_LOOKS || this.#hasLostHelper(words)) this.#lose();
    }
  }

  #lose(): never {
    this.memory.abandon();
    this.leave();
    throw new HelperLost();
  }

  #hasLostHelper(words: Int32Array): boolean {
    const board = this.#board as Int32Array;
    return this.#ports.some(
      (_, n) => Atomics.load(board, BOARD.ended + n) !== 0 && Atomics.load(words, CONTROL.held + n + 1) !== 0,
    );
  }

  /** Whether there are helpers, and cores for them; starts helpers if the run is worth it. */
  #hasHelpers(nanoseconds: number): boolean {
    if (!this.#link || !this.#board || !this.#control) return false;
    if (this.#ports.length === 0) {
      const { words } = this.#control;
      const hasAsked = Atomics.load(words, CONTROL.messages) < 0;
      if (!hasAsked && (nanoseconds < WORTH_STARTING || !this.canShare)) return false;
      if (!hasAsked) {
        Atomics.store(words, CONTROL.messages, -1);
        this.#link.port.postMessage(0);
      }
      const answer = receiveMessageOnPort(this.#link.port) as { message: PortsMessage } | undefined;
      if (!answer) return false;
      this.#ports = answer.message.ports;
      Atomics.store(words, CONTROL.messages, 0);
    }
    // A helper that has just ended a run stays awake for a moment and looks for another run before it sleeps.
    return this.#ports.length > 0 && Atomics.load(this.#board, BOARD.cores) > Atomics.load(this.#board, BOARD.busy);
  }

  /** Writes the description of a run for helpers. @returns undefined if an array is not in shared memory */
  #describe<A extends Arrays<A>, N extends Numbers<N>>(work: Work<A, N>): Int32Array | undefined {
    const { words, arguments: args } = this.#control as Control;
    const definition = this.#definitions.get(work.stage as unknown as AnyStage) ?? this.#define(work);
    let at = 0;
    for (const name in work.arrays) {
      const array = work.arrays[name] as SharedView;
      const { buffer } = array;
      if (!(buffer instanceof SharedArrayBuffer) && array.length > 0) return undefined;
      args[at++] = buffer instanceof SharedArrayBuffer ? (this.#ids.get(buffer) ?? this.#introduce(buffer)) : NO_BUFFER;
      args[at++] = VIEW_TYPES.findIndex((type) => array instanceof type);
      args[at++] = array.byteOffset;
      args[at++] = array.length;
    }
    for (const name in work.numbers) args[at++] = work.numbers[name];
    words[CONTROL.definition] = definition;
    words[CONTROL.items] = work.count;
    words[CONTROL.chunk] = work.chunk;
    words[CONTROL.ordered] = work.after ? 1 : 0;
    return words;
  }

  #define<A extends Arrays<A>, N extends Numbers<N>>({ stage, arrays, numbers }: Work<A, N>): number {
    const index = this.#definitions.size;
    this.#definitions.set(stage as unknown as AnyStage, index);
    const { module, name } = stage;
    const definition = { module, name, arrays: Object.keys(arrays), numbers: Object.keys(numbers) };
    if (4 * definition.arrays.length + definition.numbers.length > MAX_ARGUMENTS) {
      throw new RangeError(`The stage ${name} has more arguments than a control block holds.`);
    }
    this.#tell({ type: 'stage', index, definition });
    return index;
  }

  #introduce(buffer: SharedArrayBuffer): number {
    const id = ++this.#lastId;
    this.#ids.set(buffer, id);
    this.#tell({ type: 'buffer', id, buffer });
    return id;
  }

  #forget(buffers: readonly SharedArrayBuffer[]): void {
    for (const buffer of buffers) {
      const id = this.#ids.get(buffer);
      if (id === undefined) continue;
      this.#ids.delete(buffer);
      this.#tell({ type: 'buffer', id, buffer: undefined });
    }
    if (!this.#board || this.#ports.length === 0) return;
    Atomics.add(this.#board, BOARD.bell, 1);
    Atomics.notify(this.#board, BOARD.bell);
  }

  #tell(message: HelperMessage): void {
    for (const port of this.#ports) port.postMessage(message);
    if (this.#control) Atomics.add(this.#control.words, CONTROL.messages, 1);
  }
}

function freeCores(board: Int32Array): number {
  return Atomics.load(board, BOARD.cores) - Atomics.load(board, BOARD.busy) - countAwake(board);
}

function computeChunk<A extends Arrays<A>, N extends Numbers<N>>(work: Work<A, N>, n: number, slot: number): void {
  const from = n * work.chunk;
  work.stage.kernel(work.arrays, work.numbers, from, Math.min(work.count, from + work.chunk), slot);
}
