import type { Positions } from '../contract/mesh.js';
import { type Box, checkPositions } from '../mesh/positions.js';
import type { CoordinateFrame } from '../solver/frame.js';
import type { EnginePositions } from '../solver/types.js';
import type { ResidentScenes } from './resident-scenes.js';

/** A target that has passed its check. */
export interface CheckedTarget {
  readonly box: Box;
  /** @returns float32[3·V], valid until the lane's next step @throws COORDINATE_RANGE */
  imageUnder(frame: CoordinateFrame): EnginePositions;
}

/**
 * Checks a step's target and maps it in one reading: the frame that the session had so far is almost always the one of
 * this step, which is only known once the target has been checked.
 *
 * @throws SIZE_MISMATCH, NOT_FINITE
 */
export function checkTarget(
  target: Positions,
  vertexCount: number,
  guess: CoordinateFrame | undefined,
  scenes: ResidentScenes,
): CheckedTarget {
  if (!guess) {
    return {
      box: checkPositions(target, vertexCount, 'target'),
      imageUnder: (frame) => frame.toEngine(target, 'target'),
    };
  }
  const image = scenes.lendRoom(3 * vertexCount);
  const box = checkPositions(target, vertexCount, 'target', (positions) => guess.mapInto(image, positions));
  return {
    box,
    imageUnder: (frame) => {
      if (frame !== guess) return frame.toEngine(target, 'target');
      frame.refuseBeyondFloat32(box, image, 'target');
      return image;
    },
  };
}
