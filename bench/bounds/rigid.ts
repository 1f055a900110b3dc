import { STORAGE_PER_UNIT } from '../../src/solver/frame.js';
import { EE, VT } from '../../src/solver/pair-kinds.js';
import { PlaneTest, ROUND_DOWN } from '../../src/solver/rigid/plane-test.js';
import { PLACEMENT_ERROR, Placement, place, reachOf } from '../../src/solver/rigid/twist.js';
import { EDGE_EDGE, type PairCode, VERTEX_TRIANGLE } from '../../src/verify/pair-kinds.js';
import type { Random } from '../prove/scenes/random.js';
import type { Bound } from './climb.js';
import { LEAST_FLOOR, largestOf, many, unitVector } from './draws.js';
import { exactly, ONE, ratioOf, toIntegers } from './exact.js';
import { distanceOf, exactDistance } from './exact-distance.js';

const ONLY = Uint32Array.of(0);

type Three = readonly [number, number, number];

/** A vertex, its target, and the centre, shift and spin of the motion of its group. */
function placed(name: string, isAtTarget: boolean): Bound {
  return {
    name,
    at: 'src/solver/rigid/twist.ts',
    numbers: Float64Array,
    draw: (random) => {
      const size = 10 ** random.between(-1, 4);
      const at = () => many(3, () => size * random.between(-1, 1));
      return [
        ...at(),
        ...many(3, () => random.between(-1, 1)),
        ...at(),
        ...at(),
        ...many(3, () => random.between(-1, 1)),
      ];
    },
    ratio: (input) => {
      const x = Float32Array.from(input.subarray(0, 3));
      const [centre, shift, spin] = [6, 9, 12].map((k) => Array.from(input.subarray(k, k + 3)) as unknown as Three);
      const known = Math.max(largestOf(x), largestOf(centre));
      if (!(Math.hypot(...spin) <= Math.PI / 2 && known > 1e-6 && largestOf(shift) < 1e6)) return Number.NaN;
      const placement = new Placement({ centre, shift, spin });
      const image = new Float64Array(3);
      placement.at(x, 0, image);
      // The least floor that covers the start and the image.
      const floor = Math.max(STORAGE_PER_UNIT * known, ((1 + 2 ** -24) * largestOf(image)) / reachOf(1));
      const off = (isAtTarget ? PLACEMENT_ERROR : 2) * floor;
      const target = Float32Array.from(image, (value, c) => value + off * input[3 + c]!);
      const z = new Float32Array(3);
      place(ONLY, placement, x, target, floor, z);
      if (!(largestOf(z) <= reachOf(floor))) return Number.NaN;
      const { rotation: r } = placement;
      let squared = 0n;
      for (let c = 0; c < 3; c++) {
        let exact = (exactly(centre[c]!) + exactly(shift[c]!)) * ONE;
        for (let k = 0; k < 3; k++) exact += exactly(r[3 * c + k]!) * (exactly(x[k]!) - exactly(centre[k]!));
        squared += (exactly(z[c]!) * ONE - exact) ** 2n;
      }
      return squared === 0n ? 0 : Math.sqrt(ratioOf(squared, (exactly(PLACEMENT_ERROR * floor) * ONE) ** 2n));
    },
  };
}

/** Two elements of two groups, and the linear piece that moves them past or towards each other. */
function drawPiece(random: Random): number[] {
  const size = 10 ** random.between(-1, 2);
  const normal = unitVector(random);
  const gap = 10 ** random.between(-5, 0);
  const thin = 10 ** random.between(-6, 0);
  const shift = 10 ** random.between(-4, 1);
  const points = many(12, () => size * random.between(-1, 1)).map((value, k) => (k % 3 === 1 ? thin * value : value));
  return [...points, ...many(12, () => shift * random.between(-1, 1)), ...normal, gap];
}

function keptDistance(name: string, kind: number, code: PairCode, cornersOfA: number): Bound {
  return {
    name: `floor/2 or the distance of ${name}, over what a rigid piece leaves`,
    at: 'src/solver/rigid/plane-test.ts',
    numbers: Float64Array,
    draw: drawPiece,
    ratio: (input) => {
      const raised = (k: number): number => (k < 3 * cornersOfA ? input[27]! * input[24 + (k % 3)]! : 0);
      const x = Float32Array.from(input.subarray(0, 12), (value, k) => value + raised(k));
      const z = Float32Array.from(x, (value, k) => value + input[12 + k]!);
      const largest = Math.max(largestOf(x), largestOf(z));
      if (!(largest > 1e-3 && largest < 1e4)) return Number.NaN;
      const floor = Math.max(LEAST_FLOOR, STORAGE_PER_UNIT * largest);
      if (!new PlaneTest(x, z, floor).passes(kind, 0, 1, 2, 3)) return Number.NaN;
      const least = Math.min(exactDistance(code, x), floor / 2) * ROUND_DOWN;
      const { values, unit } = toIntegers([...x, ...z]);
      // At the quarters of the piece.
      const shares = [1n, 2n, 3n, 4n];
      const left = shares.map((s) => values.slice(0, 12).map((from, k) => (4n - s) * from + s * values[12 + k]!));
      return least / Math.min(...left.map((points) => distanceOf(code, points) * 2 ** (unit - 2)));
    },
  };
}

export const RIGID_BOUNDS: readonly Bound[] = [
  placed('rounding of a vertex that a group carries', false),
  placed('the same, set onto its target', true),
  keptDistance('a vertex and a triangle', VT, VERTEX_TRIANGLE, 1),
  keptDistance('two edges', EE, EDGE_EDGE, 2),
];
