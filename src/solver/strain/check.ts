import { IntersticeError } from '../../contract/errors.js';
import type { Parameters } from '../../contract/parameters.js';
import type { CollisionMesh } from '../../mesh/types.js';
import type { Engine } from '../engine.js';

/**
 * @throws UNIMPLEMENTED where the request depends on strain limits and the engine has none. Under FAST no engine keeps them;
 *   the report measures them.
 */
export function checkStrainLimits(
  { strain }: Pick<CollisionMesh, 'strain'>,
  { quality }: Pick<Parameters, 'quality'>,
  { description }: Pick<Engine, 'description'>,
): void {
  if (!strain || quality === 'FAST' || description.strainLimits === true) return;
  throw new IntersticeError(
    'UNIMPLEMENTED',
    `The engine ${description.name} has no strain limits, and mesh.strainLimits is set.`,
    {
      hint: 'Leave it unset, use quality FAST, which only measures strains, or use a server with the CPU engine (interstice serve --engine cpu).',
    },
  );
}
