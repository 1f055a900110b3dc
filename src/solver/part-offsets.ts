import { IntersticeError } from '../contract/errors.js';
import type { Parameters } from '../contract/parameters.js';
import { fillContactOffsets } from '../mesh/part-lengths.js';
import type { CollisionMesh } from '../mesh/types.js';
import { CONTACT_LEAD } from './constants.js';
import type { Engine } from './engine.js';
import { distancesByVertex, smallestDistance } from './part-distances.js';
import type { Settings } from './settings.js';

/**
 * Contact offsets of parts: the gap for which a contact of the pull-back aims, whereas the activation distance is the
 * gap at which it begins. The rule of a part and of a pair is in mesh/part-lengths.ts. No part's offset exceeds its δ, so
 * no pair's does.
 *
 * A contact aims at the offset of its pair, or at less if the pair began nearer, so that tiny gaps of a start are not
 * opened at once (cpu/contact-aims.ts).
 *
 * Both engines need one number per vertex, {@link offsetsByVertex}: a device binds it like δ by vertex.
 */

/** float32[V] offset by vertex, engine units; undefined if no part has one of its own. */
export function offsetsByVertex(mesh: CollisionMesh, settings: Settings): Float32Array | undefined {
  const { pullBack, delta, scale } = settings;
  if (!pullBack || !mesh.parts.some(({ contactOffset }) => contactOffset !== undefined)) return undefined;
  const usual = { delta, offsetShare: pullBack.offset, scale };
  return fillContactOffsets(mesh.parts, usual, new Float32Array(mesh.vertexCount));
}

/**
 * Returns the gap below which pairs of the pull-back are contacts, in δ of the pair: 1, or more where an offset is so
 * large that a pair within δ would be seen too late (CONTACT_LEAD).
 *
 * No pair has a larger share than the largest of a vertex, because its offset and its δ are means over the same sides.
 */
export function contactRangeOf(mesh: CollisionMesh, settings: Settings): number {
  const { pullBack, delta } = settings;
  if (!pullBack) return 1;
  const offsets = offsetsByVertex(mesh, settings);
  const distances = distancesByVertex(mesh, settings);
  const largest = offsets?.reduce((most, o, v) => Math.max(most, o / (distances?.[v] ?? delta)), 0);
  return Math.max(1, Math.fround((largest ?? pullBack.offset) + CONTACT_LEAD));
}

/** Returns the smallest contact offset that a pair can have, engine units; only with a pull-back. */
export function leastOffsetOf(mesh: CollisionMesh, settings: Settings): number {
  const offsets = offsetsByVertex(mesh, settings);
  if (offsets) return offsets.reduce((least, offset) => Math.min(least, offset), Number.POSITIVE_INFINITY);
  return (settings.pullBack?.offset ?? 0) * smallestDistance(distancesByVertex(mesh, settings), settings.delta);
}

/**
 * @param engine of the request; absent = one that has offsets of parts
 * @throws INVALID_PARAMETER for an invalid offset; UNIMPLEMENTED if the request depends on one and the engine does not
 *   read them
 */
export function checkPartOffsets(
  { parts }: Pick<CollisionMesh, 'parts'>,
  { activationDistance, quality }: Pick<Parameters, 'activationDistance' | 'quality'>,
  engine?: Pick<Engine, 'description' | 'hasPartOffsets'>,
): void {
  parts.forEach(({ name, activationDistance: delta = activationDistance, contactOffset: offset }, index) => {
    if (offset === undefined) return;
    const element = { kind: 'part', index, vertices: [] };
    if (!(offset >= 0 && offset <= delta)) {
      throw new IntersticeError(
        'INVALID_PARAMETER',
        `mesh.parts[${index}].contactOffset is ${offset}; it must be at least 0 and at most the activation distance of the part, ${delta}.`,
        { element },
      );
    }
    if (quality === 'FAST' || !engine || engine.hasPartOffsets) return;
    throw new IntersticeError(
      'UNIMPLEMENTED',
      `The engine ${engine.description.name} does not support contact offsets of parts, but part ${JSON.stringify(name)} has one.`,
      { element, hint: 'Leave it unset, or use a server with the CPU engine (interstice serve --engine cpu).' },
    );
  });
}
