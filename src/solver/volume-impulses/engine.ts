import { IntersticeError } from '../../contract/errors.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { createCpuEngine } from '../cpu/engine.js';
import type { Engine, Scene } from '../engine.js';
import { toSettings } from '../settings.js';
import { VolumeImpulses } from './volume-impulses.js';

/**
 * The method VOLUME_IMPULSES behind the engine contract, on one thread of the CPU. A scene keeps no data from one
 * resolve to the next, so parking or losing it has no effect.
 */
export function createVolumeImpulsesEngine(): Engine {
  const { description } = createCpuEngine();
  return {
    description: { ...description, qualities: ['FAST'], methods: ['VOLUME_IMPULSES'] },
    hasCheapStates: true,
    async open(mesh, parameters, units): Promise<Scene> {
      refuseWithoutVolumes(mesh);
      let present = { parameters, units };
      return {
        bytes: 0,
        resolve: async (step) => new VolumeImpulses(mesh, toSettings(present.parameters, present.units), step).run(),
        configure: (parameters, units) => {
          present = { parameters, units };
        },
        save: () => ({ ...present, step: 0, proximity: undefined }),
        close: () => undefined,
      };
    },
    close: async () => undefined,
  };
}

/**
 * Refuses meshes with pairs without a volume. A tetrahedron has four vertices: pairs of a vertex and a triangle, and of
 * two edges, have volumes, but a particle and another particle or a rod have none.
 *
 * @throws INVALID_PARAMETER
 */
function refuseWithoutVolumes({ particles, edges, rodStart }: CollisionMesh): void {
  const hasRods = edges.length / 2 > rodStart;
  if (particles.length < 2 && !(particles.length === 1 && hasRods)) return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `method VOLUME_IMPULSES keeps the volumes between vertices and triangles and between edges; the ${particles.length} free particles of this mesh could meet ${hasRods ? 'rods or ' : ''}each other, and those pairs have no volume.`,
    { hint: 'Use method TWO_WAY, which is the default, for meshes with particles.' },
  );
}
