import t from 'tap';
import { seeded } from './random.js';

/** Share of the faults that a run of all test files plants. */
const SHARE = 1 / 3;

/**
 * The faults that a file plants in kernels, each of which a software driver compiles anew for seconds: all of them if
 * the file was chosen by name, a third of them, by the seed, if all files run (TEST_FAULTS, deploy/test-process.mjs).
 */
export function faultsToPlant<T>(all: readonly T[]): readonly T[] {
  if (process.env.TEST_FAULTS !== 'SOME') return all;
  const random = seeded();
  const left = [...all];
  const chosen: T[] = [];
  while (chosen.length < SHARE * all.length) chosen.push(...left.splice(random.int(left.length), 1));
  t.comment(`${chosen.length} of ${all.length} faults, seed ${random.seed}`);
  return chosen;
}
