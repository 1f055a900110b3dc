import { stepsInCompany } from '../failures/company.js';
import type { Fault } from './fault.js';
import type { Mutant } from './mutant.js';

const CONVOY = 'gpu/convoy/convoy.js';
const BOUND = 'gpu/convoy/bound.js';

/** Makes a scene's part of one buffer begin where that of the first scene of the arena does. */
const placesOfTheFirst = (binding: string): Fault => ({
  file: BOUND,
  search: 'const element = offset / stride;',
  replacement: `const element = name === '${binding}' ? 0 : offset / stride;`,
});

const IN_COMPANY = ['in company has other bytes', 'in company takes', 'in company is refused', 'in company.'];
/** Without the proof that a convoy computes the same (gpu/proof/shared-proof.ts), every scene submits alone. */
const NOT_PROVEN = ['they were not submitted together'];

/** For faults of the host that the proof meets, too: without it, the judge searches for them in the answers. */
const MUTED_PROOF: Fault = {
  file: 'gpu/proof/shared-proof.js',
  function: 'findSharedObjection',
  instead: () => Promise.resolve(undefined),
};

const mutant = (name: string, description: string, fault: Fault, caughtBy = IN_COMPANY): Mutant => ({
  name,
  description,
  faults: caughtBy === IN_COMPANY ? [fault, MUTED_PROOF] : [fault],
  engine: 'webgpu',
  scenes: [],
  failure: stepsInCompany,
  caughtBy,
  isVerified: true,
});

/** Faults of scenes that submit together: a scene sees data that belongs to another one. */
export const CONVOY_MUTANTS: readonly Mutant[] = [
  mutant(
    'convoy-motion-of-another',
    'scenes read and write the y of the first scene of the arena',
    placesOfTheFirst('y'),
    NOT_PROVEN,
  ),
  mutant(
    'convoy-boxes-of-another',
    'scenes use the trust boxes of the first scene of the arena',
    placesOfTheFirst('box'),
    NOT_PROVEN,
  ),
  mutant('convoy-places-out-of-date', 'the places of scenes are not looked up again after they have moved', {
    file: BOUND,
    search: 'this.#known = new WeakMap();',
    replacement: '',
  }),
  mutant('convoy-end-of-another', 'the state of a run is taken from that of the scene before it in the submission', {
    file: CONVOY,
    search: 'resolve(range.slice(begin, begin + bytes));',
    // The first word of a control block, all that is read of a batch: from 0 = the run continues to 3 = its end.
    replacement: `const own = range.slice(begin, begin + bytes);
      const before = parts[parts.findIndex((one) => one.slices === slices) - 1];
      if (before?.slices.length === 1 && slices.length === 1 && before.slices[0].bytes === bytes) {
        const [other] = new Uint32Array(range, offsets[at - 1], 1);
        if (other <= 3 && new Uint32Array(own)[0] <= 3) new Uint32Array(own)[0] = other;
      }
      resolve(own);`,
  }),
  mutant(
    'convoy-order-by-place',
    'the orders of sweeps are seeded by the place in the arena besides the steps of the scene',
    {
      file: 'gpu/step/step-loop.js',
      search: 'clock: isClockWorn ? 0 : clock,',
      replacement: 'clock: isClockWorn ? 0 : clock + this.#buffers.control.offset / 256,',
    },
    NOT_PROVEN,
  ),
];
