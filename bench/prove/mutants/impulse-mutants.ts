import { FLOOR, MEETING, type Mutant, PATH, TUNNEL } from './mutant.js';

const PAIR_PATH = 'src/solver/volume-impulses/pair-path.js';
const SENT = { method: 'VOLUME_IMPULSES' } as const;
const SCENES = ['layers', 'matryoshka', 'soup'];

/** Faults of the method VOLUME_IMPULSES, which accepts a state only if its own test finds no collision on the way. */
export const IMPULSE_MUTANTS: readonly Mutant[] = [
  {
    name: 'impulses-see-no-collision',
    description: 'no pair is found on a collision course',
    faults: [{ file: PAIR_PATH, function: 'PairPath.meets', instead: () => false }],
    scenes: SCENES,
    caughtBy: [MEETING, TUNNEL, PATH],
    sent: SENT,
  },
  {
    name: 'impulses-tested-at-the-end',
    description: 'pairs are looked at where a piece ends, and not on the way',
    faults: [{ file: PAIR_PATH, function: 'PairPath.#meetsOnTheWay', instead: () => false }],
    scenes: ['matryoshka', 'layers', 'chain'],
    caughtBy: [MEETING, TUNNEL, PATH],
    sent: SENT,
  },
  {
    name: 'impulses-without-edges',
    description: 'pairs of edges are not searched for',
    faults: [
      {
        file: 'src/solver/volume-impulses/moving-pairs.js',
        search: 'const { order: edgeAt } = this.#edges.tree;',
        replacement: 'return; const { order: edgeAt } = this.#edges.tree;',
      },
    ],
    scenes: ['chain', 'hair', 'layers', 'twistedTube'],
    caughtBy: [MEETING, TUNNEL, PATH, FLOOR],
    sent: SENT,
  },
];
