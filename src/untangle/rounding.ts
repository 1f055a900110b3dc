import type { ElementPair } from '../contract/elements.js';
import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { EnginePositions } from '../solver/engine.js';
import type { CoordinateFrame } from '../solver/frame.js';
import { testPath } from '../verify/path.js';
import type { PairRules } from '../verify/types.js';

/** The largest number of pairs that are compared one by one; with more of them a start is refused. */
const MOST_PAIRS = 1_000_000;

/**
 * If the coordinate frame must round the start, the way from the start to its image is the first piece of the path, on
 * which no pair may meet that the first iteration does not leave out (docs/method.md, S9); the pull-back of a free start
 * leaves nothing out. A small part of a mesh that
 * rounding moves to the other side of a sheet would otherwise be found on neither side. Pairs that touch in the start
 * without intersecting, like edges of neighbours that are folded onto each other, meet there already.
 *
 * @param engine the image of the start
 * @param rules of the first iteration, or of the pull-back of a free start; its `maxPairs` are named
 * @throws TOLERANCE_TOO_SMALL with the pairs; what the checkpoint of the rules throws
 */
export function refuseRounded(
  mesh: CollisionMesh,
  frame: CoordinateFrame,
  start: Positions,
  engine: EnginePositions,
  rules: PairRules,
): void {
  if (frame.isExact(start, engine)) return;
  const all = { ...rules, maxPairs: MOST_PAIRS };
  const { collisionCount, collisions } = testPath(mesh, start, frame.toDouble(engine), all);
  if (collisionCount === 0) return;
  const touching = new Set(testPath(mesh, start, start, all).collisions.map(keyOf));
  const pairs = collisions.filter((pair) => !touching.has(keyOf(pair)));
  const count = pairs.length + collisionCount - collisions.length;
  if (count === 0) return;
  throw new IntersticeError(
    'TOLERANCE_TOO_SMALL',
    `${count} ${count === 1 ? 'pair that does' : 'pairs that do'} not intersect in the start ` +
      `${count === 1 ? 'is' : 'are'} so close that ${count === 1 ? 'it meets' : 'they meet'} when the engine rounds it to float32.`,
    {
      pairs: pairs.slice(0, rules.maxPairs),
      pairCount: count,
      hint: 'Separate the named pairs by a millionth of the size of the mesh, or send the positions in float32: pairs that meet in these numbers are intersections, which are untangled.',
    },
  );
}

const keyOf = ({ kind, a, b }: ElementPair): string => `${kind} ${a.join()}:${b.join()}`;
