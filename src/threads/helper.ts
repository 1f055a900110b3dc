import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
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
  NO_BUFFER,
  noteEnd,
  raise,
  type StageDefinition,
  VIEW_TYPES,
  viewControl,
} from './control.js';
import { argumentsOf, type KernelArguments } from './kernel-arguments.js';
import { collectGarbage } from './memory.js';
import type { HelperSetup, LaneMessage } from './pool.js';
import { type AnyStage, findStage, type SharedView } from './stage.js';

/* The thread of a helper: waits until the bell rings, and computes chunks for whichever thread has a run. */

/** Bytes of dropped buffers from which garbage is collected. */
const COLLECT_BYTES = 2 ** 26;

const EMPTY = new SharedArrayBuffer(0);

interface KnownStage {
  readonly definition: StageDefinition;
  /** undefined until its module is loaded */
  stage: AnyStage | undefined;
}

/** A thread that may use helpers, as this helper knows it. */
interface Asker {
  readonly control: Control;
  readonly port: MessagePort;
  readonly buffers: Map<number, SharedArrayBuffer>;
  readonly stages: KnownStage[];
  /** messages read */
  messages: number;
  /** first ticket of the run in which this helper returned a chunk; a run has room for one such chunk per helper */
  gaveUp: number | undefined;
}

const { board: boardBuffer, slot } = workerData as HelperSetup;
const board = new Int32Array(boardBuffer);
const askers: Asker[] = [];
let forgotten = 0;

function readMessages(): void {
  for (let got = receive<LaneMessage>(parentPort!); got; got = receive<LaneMessage>(parentPort!)) {
    const { control, port } = got;
    askers.push({
      control: viewControl(control),
      port,
      buffers: new Map(),
      stages: [],
      messages: 0,
      gaveUp: undefined,
    });
  }
  for (let n = askers.length - 1; n >= 0; n--) {
    if (Atomics.load(askers[n].control.words, CONTROL.gone) === 0) continue;
    for (const { byteLength } of askers[n].buffers.values()) forgotten += byteLength;
    askers[n].port.close();
    askers.splice(n, 1);
  }
  for (const asker of askers) {
    for (let got = receive<HelperMessage>(asker.port); got; got = receive<HelperMessage>(asker.port)) {
      asker.messages++;
      if (got.type === 'stage')
        asker.stages[got.index] = { definition: got.definition, stage: findStage(got.definition) };
      else if (got.buffer) asker.buffers.set(got.id, got.buffer);
      else {
        forgotten += asker.buffers.get(got.id)?.byteLength ?? 0;
        asker.buffers.delete(got.id);
      }
    }
  }
  if (forgotten < COLLECT_BYTES) return;
  forgotten = 0;
  collectGarbage();
}

function receive<T>(port: MessagePort): T | undefined {
  return (receiveMessageOnPort(port) as { message: T } | undefined)?.message;
}

/** Takes chunks of the asker's run until none is left or other threads need the cores. @returns whether it took one */
function help(asker: Asker): boolean {
  const { words } = asker.control;
  let last = -1;
  let current: KernelArguments | undefined;
  let hasWorked = false;
  // `base` belongs to one run only: once it differs from `gaveUp`, that run has ended, and no claim can belong to it.
  while (!isCrowded() && Atomics.load(words, CONTROL.base) !== asker.gaveUp) {
    const n = claim(words);
    if (n < 0) break;
    hasWorked = true;
    Atomics.store(words, CONTROL.held + slot, n + 1);
    // From here on this is the run of the chunk: it cannot end before `done` counts the chunk.
    const base = Atomics.load(words, CONTROL.base);
    if (asker.messages < Atomics.load(words, CONTROL.messages)) readMessages();
    const known = asker.stages[words[CONTROL.definition]];
    let isReturned = known?.stage === undefined;
    try {
      if (known?.stage) {
        if (base !== last || !current) {
          current?.empty();
          current = readArguments(asker, known.stage, known.definition);
        }
        last = base;
        const { arrays, numbers } = current;
        const from = n * words[CONTROL.chunk];
        const to = Math.min(words[CONTROL.items], from + words[CONTROL.chunk]);
        const isOrdered = words[CONTROL.ordered] === 1;
        if (!isOrdered || awaitTurn(words, arrays.after[n])) {
          known.stage.kernel(arrays, numbers, from, to, slot);
          if (isOrdered) endTurn(words);
        }
      }
    } catch {
      // The owner of the run computes the chunk again, and gets the error itself.
      isReturned = true;
    }
    if (isReturned) Atomics.store(words, CONTROL.returned + slot, n + 1);
    Atomics.store(words, CONTROL.held + slot, 0);
    raise(words, CONTROL.done);
    if (isReturned) {
      Atomics.notify(words, CONTROL.ended);
      asker.gaveUp = base;
      break;
    }
  }
  current?.empty();
  return hasWorked;
}

function readArguments(asker: Asker, stage: AnyStage, definition: StageDefinition): KernelArguments {
  const { arguments: args } = asker.control;
  const arrays: Record<string, SharedView> = {};
  const numbers: Record<string, number> = {};
  let at = 0;
  for (const name of definition.arrays) {
    const buffer = args[at] === NO_BUFFER ? EMPTY : asker.buffers.get(args[at]);
    if (!buffer) throw new Error('A buffer of the run is unknown.');
    arrays[name] = new VIEW_TYPES[args[at + 1]](buffer as ArrayBufferLike as ArrayBuffer, args[at + 2], args[at + 3]);
    at += 4;
  }
  for (const name of definition.numbers) numbers[name] = args[at++];
  const own = argumentsOf(stage, arrays, numbers);
  own.fill(arrays, numbers);
  return own;
}

function isCrowded(): boolean {
  return Atomics.load(board, BOARD.busy) + countAwake(board) > Atomics.load(board, BOARD.cores);
}

/** Loads the modules of the stages that this helper has received. @returns whether there was one to load */
async function loadStages(): Promise<boolean> {
  const missing = askers.flatMap(({ stages }) => stages.filter((known) => known && !known.stage));
  for (const known of missing) {
    await import(known.definition.module);
    known.stage = findStage(known.definition);
    if (!known.stage) throw new Error(`${known.definition.module} defines no stage ${known.definition.name}.`);
  }
  return missing.length > 0;
}

// The owner of the pool is notified later, or never while it computes.
process.once('exit', () => noteEnd(board, slot - 1));

let first = 0;
let hasJustWorked = false;
Atomics.add(board, BOARD.ready, 1);
Atomics.notify(board, BOARD.ready);
for (;;) {
  const seen = Atomics.load(board, BOARD.bell);
  readMessages();
  if (await loadStages()) continue;
  Atomics.store(board, BOARD.awake + slot - 1, 1);
  let hasWorked = false;
  for (let n = 0; n < askers.length; n++) hasWorked = help(askers[(first + n) % askers.length]) || hasWorked;
  first++;
  Atomics.store(board, BOARD.awake + slot - 1, 0);
  // The next run of the same request is often a few microseconds away.
  if (!hasWorked && !(hasJustWorked && changesSoon(board, BOARD.bell, seen))) Atomics.wait(board, BOARD.bell, seen);
  hasJustWorked = hasWorked;
}
