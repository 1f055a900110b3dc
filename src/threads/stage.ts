/** The kinds of arrays that threads share. */
export type SharedView = Uint8Array | Int8Array | Int32Array | Uint32Array | Float32Array | Float64Array;

/** The arrays of a stage by name; if helpers take part, all of them are in shared memory (memory.ts). */
export type Arrays<A> = { readonly [K in keyof A]: SharedView };

/** The numbers of a stage by name. */
export type Numbers<N> = { readonly [K in keyof N]: number };

/** For stages without numbers. */
export type NoNumbers = Readonly<Record<never, number>>;

/**
 * Computes the items [from, to) of a stage. It must give the same bytes whichever thread runs it, and however the
 * chunks of a run are distributed: it writes only values of its items or its slot, or minima or sums of integers.
 *
 * @param slot the thread that computes, 0 = the owner of the run; a thread takes its chunks in ascending order
 */
export type Kernel<A extends Arrays<A>, N extends Numbers<N>> = (
  arrays: A,
  numbers: N,
  from: number,
  to: number,
  slot: number,
) => void;

/** A loop over items that several threads may share. */
export interface Stage<A extends Arrays<A>, N extends Numbers<N>> {
  /** URL of the module that defines it; a helper imports it */
  readonly module: string;
  readonly name: string;
  readonly kernel: Kernel<A, N>;
}

/** A stage whose arguments are known by name only. */
export type AnyStage = Stage<Record<string, SharedView>, Record<string, number>>;

const stages = new Map<string, AnyStage>();

/**
 * Defines a stage. Functions cannot be sent to another thread, so a stage is identified by its module and name: it must
 * be defined when the module is loaded.
 *
 * @param module import.meta.url of the caller
 */
export function defineStage<A extends Arrays<A>, N extends Numbers<N>>(
  module: string,
  name: string,
  kernel: Kernel<A, N>,
): Stage<A, N> {
  const stage = { module, name, kernel };
  stages.set(keyOf(stage), stage as unknown as AnyStage);
  return stage;
}

/** The stage of this name, once its module is loaded. */
export function findStage(known: { readonly module: string; readonly name: string }): AnyStage | undefined {
  return stages.get(keyOf(known));
}

function keyOf({ module, name }: { readonly module: string; readonly name: string }): string {
  return `${module}#${name}`;
}
