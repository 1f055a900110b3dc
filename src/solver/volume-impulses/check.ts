import { IntersticeError } from '../../contract/errors.js';
import type { CollisionMesh } from '../../mesh/types.js';

/** The elements of a mesh that form pairs without a volume. */
export interface ThinElements {
  readonly freeParticles: number;
  readonly hasRods: boolean;
}

export function thinElementsOf({
  particles,
  edges,
  rodStart,
}: Pick<CollisionMesh, 'particles' | 'edges' | 'rodStart'>): ThinElements {
  return { freeParticles: particles.length, hasRods: edges.length / 2 > rodStart };
}

/**
 * Refuses meshes with pairs without a volume. A tetrahedron has four vertices: pairs of a vertex and a triangle, and of
 * two edges, have volumes, but a particle and another particle or a rod have none.
 *
 * @throws INVALID_PARAMETER
 */
export function checkVolumes({ freeParticles, hasRods }: ThinElements): void {
  if (freeParticles < 2 && !(freeParticles === 1 && hasRods)) return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `method VOLUME_IMPULSES keeps the volumes between vertices and triangles and between edges; the ${freeParticles} free particles of this mesh could meet ${hasRods ? 'rods or ' : ''}each other, and those pairs have no volume.`,
    { hint: 'Use method TWO_WAY, which is the default, for meshes with particles.' },
  );
}
