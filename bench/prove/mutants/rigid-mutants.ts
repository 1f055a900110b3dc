import type { Rotation } from '../../../src/solver/rigid/rotation.js';
import { FLOOR, MEETING, type Mutant, PATH, TUNNEL } from './mutant.js';

const PLANE_TEST = 'src/solver/rigid/plane-test.js';

/** Faults of the motion of groups before the first step. */
export const RIGID_MUTANTS: readonly Mutant[] = [
  {
    name: 'reflected-group',
    description: 'the rotation of a rigid piece is a reflection: the group passes through itself',
    faults: [
      {
        file: 'src/solver/rigid/rotation.js',
        function: 'rotationOf',
        instead: (original: (spin: unknown) => Rotation, spin: unknown) =>
          original(spin).map((value: number, k: number) => (k < 3 ? -value : value)),
      },
      // Nothing else of a piece is wrong, but a mirrored garment would fail the test of its closest pairs.
      { file: 'src/solver/rigid/near-pairs.js', function: 'NearPair.lackAt', instead: () => undefined },
    ],
    scenes: ['movingGroups'],
    caughtBy: [MEETING, TUNNEL, PATH],
  },
  {
    name: 'far-rounding-unseen',
    description: 'a rigid piece leads to coordinates whose rounding no floor covers',
    faults: [{ file: 'src/solver/rigid/twist.js', function: 'reachOf', instead: () => Number.POSITIVE_INFINITY }],
    scenes: ['farGroups'],
    caughtBy: [MEETING, TUNNEL, PATH, FLOOR],
    sent: { scalar: 'FLOAT32' },
  },
  {
    name: 'planes-at-the-start-only',
    description: 'pairs of groups are parted where a rigid piece begins, and not looked at where it ends',
    faults: [
      {
        file: PLANE_TEST,
        search: 'this.#measure(this.#z, x, y, z, this.#atZ)',
        replacement: 'this.#measure(this.#x, x, y, z, this.#atZ)',
      },
      { file: PLANE_TEST, function: 'PlaneTest.#isCertified', instead: () => true },
    ],
    scenes: ['movingGroups'],
    caughtBy: [MEETING, TUNNEL, PATH, FLOOR],
  },
  {
    name: 'near-pairs-untested',
    description: 'pairs of one group that are closer than the floor are placed as any other',
    faults: [{ file: 'src/solver/rigid/near-pairs.js', function: 'NearPair.lackAt', instead: () => undefined }],
    scenes: ['hairlines'],
    caughtBy: [MEETING, TUNNEL, PATH, FLOOR],
  },
];
