import type { AnyStage, SharedView } from './stage.js';

/**
 * The two objects that a kernel gets on this thread: the same ones in every run, filled before it and emptied after it.
 *
 * V8 keeps the shape of objects only as long as one of them exists, and drops the code that was compiled for the shape
 * with it. Objects made for one run would not survive the next garbage collection, which large arrays cause often, and
 * kernels would be compiled again for hundreds of milliseconds. Besides, V8 turns an object that gets more than some
 * twenty properties by computed names into a hash table; these objects have fields.
 */
export class KernelArguments {
  readonly arrays: Record<string, SharedView>;
  readonly numbers: Record<string, number>;
  /** the placeholder of each array between runs */
  readonly #empty: Record<string, SharedView>;
  /** whether it is filled, and not emptied yet */
  isInUse = false;

  /** @param arrays of a run; only their names and types are kept */
  constructor(arrays: Readonly<Record<string, SharedView>>, numbers: Readonly<Record<string, number>>) {
    const empty: Record<string, SharedView> = {};
    for (const name in arrays) empty[name] = new (arrays[name].constructor as new (length: number) => SharedView)(0);
    this.#empty = empty;
    this.arrays = { ...empty };
    this.numbers = { ...numbers };
  }

  fill(arrays: Readonly<Record<string, SharedView>>, numbers: Readonly<Record<string, number>>): void {
    for (const name in this.arrays) this.arrays[name] = arrays[name];
    for (const name in this.numbers) this.numbers[name] = numbers[name];
    this.isInUse = true;
  }

  /** Drops the arrays. */
  empty(): void {
    for (const name in this.arrays) this.arrays[name] = this.#empty[name];
    this.isInUse = false;
  }
}

const known = new Map<AnyStage, KernelArguments>();

/** The arguments of a stage on this thread. @param arrays and @param numbers of a run */
export function argumentsOf(
  stage: AnyStage,
  arrays: Readonly<Record<string, SharedView>>,
  numbers: Readonly<Record<string, number>>,
): KernelArguments {
  let own = known.get(stage);
  if (!own) known.set(stage, (own = new KernelArguments(arrays, numbers)));
  return own;
}
