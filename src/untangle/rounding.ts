import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { EnginePositions } from '../solver/engine.js';
import type { CoordinateFrame } from '../solver/frame.js';
import { testPath } from '../verify/path.js';
import type { PairRules } from '../verify/types.js';

/**
 * If the coordinate frame must round the start, the way from the start to its image is the first piece of the path, on
 * which no pair may meet that the first iteration does not leave out (docs/method.md, S9). A small part of a mesh that
 * rounding moves to the other side of a sheet would otherwise be found on neither side.
 *
 * @param engine the image of the start
 * @param rules of the first iteration
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
  const { pathFree, collisionCount, collisions } = testPath(mesh, start, frame.toDouble(engine), rules);
  if (pathFree) return;
  throw new IntersticeError(
    'TOLERANCE_TOO_SMALL',
    `${collisionCount} ${collisionCount === 1 ? 'pair that does' : 'pairs that do'} not intersect in the start ` +
      `${collisionCount === 1 ? 'is' : 'are'} so close that ${collisionCount === 1 ? 'it meets' : 'they meet'} when the engine rounds it to float32.`,
    {
      pairs: collisions,
      pairCount: collisionCount,
      hint: 'Separate the named pairs by a millionth of the size of the mesh, or send the positions in float32: pairs that meet in these numbers are intersections, which are untangled.',
    },
  );
}
