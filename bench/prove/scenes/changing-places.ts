import { Builder, type Point, type ProveScene } from './builder.js';
import type { Random } from './random.js';

const EDGE = 0.01;
/** The usual leap, two edges. */
const LEAP = 2 * EDGE;
/** Distance of the far end of a rod: its other end moves by more than the 32 leaps from which on it flies. */
const FAR: readonly [number, number] = [40 * LEAP, 90 * LEAP];
/** Distance from which leaves come: more than a leap, so that they move as a whole, and less than a flight. */
const NEAR: readonly [number, number] = [5 * LEAP, 15 * LEAP];

/**
 * A cloth with two places so near each other that its trust boxes contain both. Between these lie the places of leaves,
 * which come there as a whole, and of the ends of long rods, which come there by a flight. In a session each of them
 * changes its place or stays, whatever the others do ({@link ProveScene.ways}): a P that is used again although some
 * vertices have left their boxes lacks the pairs between the cloth and what has come into its way.
 */
export function changingPlaces(random: Random): ProveScene {
  const b = new Builder();
  const ways: number[] = [];
  let way = 0;
  const endWay = (): void => {
    while (ways.length < b.vertexCount) ways.push(way);
    way++;
  };
  const cells = 6 + random.below(3);
  const side = cells * EDGE;
  const rise = random.between(0.3, 0.6) * EDGE;
  const wave = random.between(0, 0.1) * rise;
  const cloth =
    (lift: number) =>
    (u: number, v: number): Point => [side * (u - 0.5), side * (v - 0.5), lift + wave * Math.sin(7 * u + 4 * v)];
  b.sheet(cells, cells, cloth(0), cloth(rise));
  endWay();
  const rods = 2 + random.below(2);
  const leaves = 2 + random.below(2);
  const turn = random.between(0, 2 * Math.PI);
  for (let k = 0; k < rods + leaves; k++) {
    // Each comes from its own direction, and ends on that side of the middle, so that none is in the way of another.
    const angle = turn + (2 * Math.PI * (k + random.between(-0.1, 0.1))) / (rods + leaves);
    const level = random.between(0.4, 0.6) * rise;
    const at = (outwards: number, aside = 0, up = 0): Point => [
      outwards * Math.cos(angle) - aside * Math.sin(angle),
      outwards * Math.sin(angle) + aside * Math.cos(angle),
      level + up,
    ];
    const inside = random.between(0.15, 0.35) * side;
    if (k < rods) {
      const far = random.between(...FAR);
      const end = b.vertex(at(far + EDGE), at(inside));
      b.segment(b.vertex(at(far)), end);
    } else {
      const near = random.between(...NEAR);
      const size = random.between(0.3, 0.8) * EDGE;
      const corner = (x: number, y: number): number => {
        const up = random.between(-0.1, 0.1) * rise;
        return b.vertex(at(inside + near + x, y, up), at(inside + x, y, up));
      };
      b.triangle(corner(0, 0), corner(size, -0.5 * size), corner(size, 0.5 * size));
    }
    endWay();
  }
  return { ...b.build(), ways: Uint8Array.from(ways) };
}
