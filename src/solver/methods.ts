import type { Warning } from '../contract/errors.js';
import { IntersticeError } from '../contract/errors.js';
import type { Parameters, ParametersInput } from '../contract/parameters.js';
import type { EngineDescription } from '../contract/server-info.js';
import type { CollisionMesh } from '../mesh/types.js';

/**
 * The values that the method of a request allows for its other parameters. Volume-preserving impulses read
 * activationDistance (for the floor), residualTolerance, stepLimit, verify, onIntersectingStart and kinematicPairs;
 * those of the preset PAPER are refused, and the others have no effect.
 */

/** Parameters that only the two-way method reads. */
const TWO_WAY_ONLY = [
  'reach',
  'leap',
  'stretchLimit',
  'damping',
  'sweepsPerStep',
  'metresPerUnit',
  'forward',
  'contact',
  'quality',
  'contactOffset',
] as const satisfies readonly (keyof Parameters)[];

/**
 * @throws INVALID_PARAMETER for VOLUME_IMPULSES with the preset of another paper; UNIMPLEMENTED if the engine lacks the
 *   method
 */
export function checkMethod(
  { method, preset }: Pick<Parameters, 'method' | 'preset'>,
  { engine }: { readonly engine?: { readonly description: Pick<EngineDescription, 'name' | 'methods'> } },
): void {
  if (method === 'TWO_WAY') return;
  if (preset === 'PAPER') {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `method is ${method}; preset PAPER belongs to the two-way method. Leave preset unset.`,
    );
  }
  if (!engine || engine.description.methods?.includes(method)) return;
  throw new IntersticeError('UNIMPLEMENTED', `The engine ${engine.description.name} has no method ${method}.`, {
    hint: 'Use method TWO_WAY, or a server with the CPU engine (interstice serve --engine cpu).',
  });
}

/**
 * Names parameters that were set but have no effect. A value that a report states as used causes no warning, so that it
 * can be sent back.
 *
 * @param usual the parameters of a request that sets none of these
 */
export function warnOfForeign(input: ParametersInput, { method }: Parameters, usual: () => Parameters): Warning[] {
  if (method === 'TWO_WAY') return [];
  const set = TWO_WAY_ONLY.filter((name) => input[name] !== undefined);
  if (set.length === 0) return [];
  const without = usual();
  return set
    .filter((name) => input[name] !== without[name])
    .map((name) => ({
      code: 'PARAMETER_WITHOUT_EFFECT',
      message:
        name === 'stretchLimit'
          ? `stretchLimit limits no edge under method ${method}; the report counts edges beyond it all the same.`
          : `${name} has no effect under method ${method}.`,
      count: 1,
    }));
}

/** The settings of a part that only the two-way method reads. */
const OF_PARTS = ['activationDistance', 'contactOffset'] as const;

/** Names settings of parts that have no effect under the method of a request. */
export function warnOfForeignParts(
  { parts }: Pick<CollisionMesh, 'parts'>,
  { method }: Pick<Parameters, 'method'>,
): Warning[] {
  if (method === 'TWO_WAY') return [];
  return OF_PARTS.map((name) => ({ name, count: parts.filter((part) => part[name] !== undefined).length }))
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => ({
      code: 'PARAMETER_WITHOUT_EFFECT',
      message: `The ${name} of ${count === 1 ? '1 part' : `${count} parts`} has no effect under method ${method}.`,
      count,
    }));
}
