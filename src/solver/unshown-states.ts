import type { StateOrigin } from '../contract/path.js';
import { allocate, release } from '../threads/arrays.js';
import type { StepInput } from './engine.js';

/**
 * The states of the pull-back since its best one: they belong to the path only if a better state follows. Up to 16 steps
 * of four pieces wait, 768 bytes a vertex, so their memory is counted like that of every array that a request computes
 * on.
 */
export class UnshownStates {
  #states: { readonly x: Float32Array; readonly from: StateOrigin }[] = [];

  /** @param x copied @throws MemoryShort */
  add(x: Float32Array, from: StateOrigin): void {
    const copy = allocate(Float32Array, x.length);
    copy.set(x);
    this.#states.push({ x: copy, from });
  }

  /** Forgets the state that was added last. */
  dropLast(): void {
    const last = this.#states.pop();
    if (last) release(last.x);
  }

  /** Reports the states, in order, as passed on the way to the next one, and forgets them. */
  show(onState: NonNullable<StepInput['onState']>): void {
    for (const { x, from } of this.#states) onState(x, from, true);
    this.drop();
  }

  /** Forgets the states: they are no part of the path. */
  drop(): void {
    release(...this.#states.map(({ x }) => x));
    this.#states = [];
  }
}
