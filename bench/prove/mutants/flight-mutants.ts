import type { MovingPair } from '../../../src/solver/flight/flight-pair.js';
import { FLOOR, MEETING, type Mutant, PATH, TUNNEL } from './mutant.js';

/** Faults of the flights that precede the first step. */
export const FLIGHT_MUTANTS: readonly Mutant[] = [
  {
    name: 'flight-tested-at-its-end',
    description: 'a pair may pass in a flight if it is apart where the flight ends',
    faults: [
      {
        file: 'src/solver/flight/flight-pair.js',
        function: 'passableShare',
        instead: (original: (pair: MovingPair, floor: number) => number, pair: MovingPair, floor: number) =>
          original({ ...pair, x: pair.z }, floor),
      },
    ],
    scenes: ['departures'],
    caughtBy: [MEETING, TUNNEL, PATH],
  },
  {
    name: 'flight-past-without-room',
    description: 'a flight may pass other elements as near as it likes, and end there',
    faults: [
      {
        file: 'src/solver/flight/flight-pair.js',
        function: 'passableShare',
        instead: (original: (pair: MovingPair, floor: number) => number, pair: MovingPair) => original(pair, 0),
      },
    ],
    scenes: ['departures'],
    caughtBy: [FLOOR],
  },
  {
    name: 'flight-searched-at-its-end',
    description: 'pairs that may meet in a flight are searched for where it ends, not on the way there',
    faults: [
      {
        file: 'src/solver/flight/flight.js',
        function: 'waysBetween',
        instead: (original: (x: Float32Array, z: Float32Array) => Float32Array, _: Float32Array, z: Float32Array) =>
          original(z, z),
      },
    ],
    scenes: ['departures'],
    caughtBy: [MEETING, TUNNEL, PATH],
  },
];
