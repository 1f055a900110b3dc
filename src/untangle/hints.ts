import { IntersticeError } from '../contract/errors.js';
import type { UntangleOptions } from '../contract/untangle.js';
import { listNames, quoteName } from '../mesh/part-names.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { Guidance } from './sides.js';

/**
 * Hints, with indices instead of the names of parts.
 *
 * @throws INVALID_PARAMETER for a part that the mesh does not have, or a layer upon itself
 */
export function readHints(
  { parts }: CollisionMesh,
  { layers = [], turned = [] }: UntangleOptions,
): Pick<Guidance, 'layers' | 'turned'> {
  // A mesh may have a hundred thousand parts, and a hint for each.
  const indices = new Map(parts.map(({ name }, index) => [name, index]));
  const indexOf = (name: string, field: string): number => {
    const index = indices.get(name);
    if (index !== undefined) return index;
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `${field} is ${quoteName(name)}, but the mesh has no part of that name.`,
      { hint: parts.length === 0 ? 'Name the parts of the mesh.' : `Its parts are: ${listNames(parts)}.` },
    );
  };
  return {
    layers: layers.map(({ inner, outer, side = 'ALONG_NORMALS' }, n) => {
      const hint = { inner: indexOf(inner, `layers[${n}].inner`), outer: indexOf(outer, `layers[${n}].outer`), side };
      if (hint.inner !== hint.outer) return hint;
      throw new IntersticeError(
        'INVALID_PARAMETER',
        `layers[${n}] names the part ${quoteName(inner)} as inner and outer.`,
      );
    }),
    turned: new Set(turned),
  };
}

/** The largest uint32, as in the contract. */
const MOST_ITERATIONS = 2 ** 32 - 1;

/** @throws INVALID_PARAMETER for bounds out of their range; every comparison is written so that NaN fails it */
export function checkBounds({ maxIterations, maxDisplacement }: UntangleOptions): void {
  const isCount = (value: number) => Number.isInteger(value) && value >= 1 && value <= MOST_ITERATIONS;
  if (maxIterations !== undefined && !isCount(maxIterations)) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `maxIterations is ${maxIterations}; it must be a whole number from 1 to ${MOST_ITERATIONS}.`,
    );
  }
  if (maxDisplacement === undefined || (maxDisplacement > 0 && maxDisplacement < Infinity)) return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `maxDisplacement is ${maxDisplacement}; it must be greater than 0 and finite.`,
    { hint: 'It is in the unit of the positions; leave it unset for no limit.' },
  );
}

/**
 * Refuses ids of contours that the start does not have; they are known only after the start has been analysed.
 *
 * @param count contours of the start
 * @throws INVALID_PARAMETER for an id that none of them has
 */
export function refuseUnknownContours({ turned = [] }: UntangleOptions, count: number): void {
  const unknown = turned.find((id) => !(Number.isInteger(id) && id >= 0 && id < count));
  if (unknown === undefined) return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `turned names contour ${unknown}; the start has ${count} ${count === 1 ? 'contour' : 'contours'}.`,
    {
      hint: 'Ids are those of UntangleReport.contours for the same mesh and positions.',
    },
  );
}
