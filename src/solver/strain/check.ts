import { IntersticeError } from '../../contract/errors.js';
import type { Parameters } from '../../contract/parameters.js';
import type { Engine } from '../engine.js';

/**
 * @param mesh its strain limits, in any form; absent = it has none
 * @throws UNIMPLEMENTED if the request depends on strain limits and the engine, or the method, has none. Under FAST no
 *   engine enforces them; the report measures them.
 */
export function checkStrainLimits(
  { strain }: { readonly strain?: unknown },
  { quality, method }: Pick<Parameters, 'quality' | 'method'>,
  { description }: Pick<Engine, 'description'>,
): void {
  if (!strain || quality === 'FAST' || (description.strainLimits === true && method === 'TWO_WAY')) return;
  throw new IntersticeError(
    'UNIMPLEMENTED',
    `mesh.strainLimits is set, but the engine ${description.name} does not support strain limits under the method ${method}.`,
    {
      hint: 'Leave it unset, use quality FAST, which only measures strains, or use the method TWO_WAY.',
    },
  );
}
