import type { Calm } from '../../../src/verify/clearance.js';
import { MEETING, type Mutant, noBound, noCheck, TUNNEL } from './mutant.js';

const MEETING_TEST = 'src/verify/exact-meeting.js';
const CLEARANCE = 'src/verify/clearance.js';

/** Faults in the exact test of states, and in what the verifier remembers of them. */
export const VERIFIER_MUTANTS: readonly Mutant[] = [
  {
    name: 'blind-verifier',
    description: 'the verifier finds nothing, so intersecting starts are accepted',
    faults: [{ file: MEETING_TEST, function: 'hasCommonPoint', instead: () => false }],
    scenes: ['crossed'],
    caughtBy: ['an intersecting start is refused'],
    isVerified: true,
  },
  {
    name: 'half-blind-verifier',
    description: 'the verifier overlooks one pair in four',
    faults: [
      {
        file: MEETING_TEST,
        function: 'hasCommonPoint',
        instead: (
          original: (...pair: unknown[]) => boolean,
          meeting: unknown,
          code: unknown,
          v: Uint32Array,
          p: number,
          w: Uint32Array,
          q: number,
        ) => (v[p] + w[q]) % 4 !== 0 && original(meeting, code, v, p, w, q),
      },
    ],
    scenes: ['crossed'],
    caughtBy: ['INTERSECTING_START counts the pairs', 'an intersecting start is refused'],
    isVerified: true,
  },
  {
    name: 'forgetful-verifier',
    description: 'the verifier takes what has moved for what rests, so that it passes whatever a faulty engine answers',
    faults: [
      {
        file: 'src/verify/memory.js',
        function: 'compareStates',
        instead: (_: unknown, x: Float64Array) => ({
          resting: new Uint8Array(x.length / 3).fill(1),
          moved: 0,
          isWorthwhile: true,
        }),
      },
      noBound,
      ...noCheck,
    ],
    scenes: ['sandInABag', 'layers'],
    caughtBy: [MEETING, TUNNEL],
    isVerified: true,
  },
  {
    name: 'forgotten-list',
    description: 'of the pairs that were near when the list was made none is tested among what has moved little',
    faults: [{ file: CLEARANCE, function: 'countWithin', instead: () => 0 }, noBound, ...noCheck],
    scenes: ['layers', 'sandInABag', 'matryoshka'],
    caughtBy: [MEETING, TUNNEL],
    isVerified: true,
    mode: 'SESSION',
  },
  {
    name: 'restless-calm',
    description: 'what has moved by twice the distance that a list covers counts as calm, where only half of it is',
    faults: [
      {
        file: CLEARANCE,
        function: 'findCalm',
        instead: (
          original: (lengths: Float64Array, ...of: unknown[]) => Calm,
          lengths: Float64Array,
          ...of: unknown[]
        ) => {
          const calm = original(
            lengths.map((length) => length / 4),
            ...of,
          );
          return { ...calm, most: 4 * calm.most };
        },
      },
      noBound,
      ...noCheck,
    ],
    scenes: ['layers', 'sandInABag', 'matryoshka'],
    caughtBy: [MEETING, TUNNEL],
    isVerified: true,
    mode: 'SESSION',
  },
];
