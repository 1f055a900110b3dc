import type { ParametersInput } from '../../src/contract/parameters.js';
import type { ResolveRequest } from '../../src/contract/requests.js';

/**
 * A kinematic floor and, over it, two squares that are pressed into it; each of the three is a part. Under quality FAST they
 * come to rest at δ, under the others at the contact offset.
 *
 * @param distances δ of the floor, the left and the right square; undefined = that of all, 0.1
 */
export function pressedSquares(
  distances: readonly (number | undefined)[],
  parameters: ParametersInput = {},
): ResolveRequest {
  const floor = [-5, -5, 0, 9, -5, 0, -5, 9, 0];
  const square = (x: number, z: number) => [x, 0, z, x + 1, 0, z, x, 1, z, x + 1, 1, z];
  const state = (z: number) => Float64Array.from([...floor, ...square(-2, z), ...square(1, z)]);
  const part = (name: string, firstVertex: number, vertexCount: number, distance: number | undefined) => ({
    name,
    firstVertex,
    vertexCount,
    kinematic: name === 'floor',
    ...(distance === undefined ? {} : { activationDistance: distance }),
  });
  return {
    mesh: {
      vertexCount: 11,
      triangles: Uint32Array.of(0, 1, 2, 3, 4, 5, 4, 6, 5, 7, 8, 9, 8, 10, 9),
      parts: [part('floor', 0, 3, distances[0]), part('left', 3, 4, distances[1]), part('right', 7, 4, distances[2])],
    },
    start: state(1),
    target: state(-0.2),
    parameters: { activationDistance: 0.1, quality: 'FAST', ...parameters },
  };
}

/** z of the corners of both squares. */
export function heightsOf(positions: ArrayLike<number>): { readonly left: number[]; readonly right: number[] } {
  const heights = (first: number) => [0, 1, 2, 3].map((k) => positions[3 * (first + k) + 2]!);
  return { left: heights(3), right: heights(7) };
}
