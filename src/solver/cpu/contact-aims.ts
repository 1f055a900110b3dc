import type { CollisionMesh } from '../../mesh/types.js';
import { AIM_GROWTH } from '../constants.js';
import { distanceOfPair } from '../part-distances.js';
import { contactRangeOf, offsetsByVertex } from '../part-offsets.js';
import type { PullBackSettings, Settings } from '../settings.js';
import { measureClosest } from './certificate.js';
import { closest } from './closest.js';
import type { PairArrays } from './pair-set.js';
import type { Scratch } from './workspace.js';

/** The data from which stages compute the aims of contacts in the pull-back. Lengths in engine units. */
export interface AimArrays {
  /** float32[V] contact offset by vertex; empty = the same share of δ for all */
  readonly offsets: Float32Array;
}

export interface AimNumbers {
  /** contact offset over δ, if `offsets` is empty */
  readonly offsetShare: number;
}

export type Aims = AimArrays & AimNumbers;

/** Aims, and the gap over δ below which pairs are contacts. */
export type AimingRange = Aims & { readonly contactRange: number };

/** @param scratch owns the memory of the arrays */
export function aimsOf(mesh: CollisionMesh, settings: Settings, plan: PullBackSettings, scratch: Scratch): AimingRange {
  const byVertex = offsetsByVertex(mesh, settings) ?? new Float32Array(0);
  const offsets = scratch.float32('contact offsets', byVertex.length);
  offsets.set(byVertex);
  return { offsets, offsetShare: plan.offset, contactRange: contactRangeOf(mesh, settings) };
}

/** Contact offset of pair p. @param delta its δ */
export function offsetOf(pairs: PairArrays, p: number, delta: number, { offsets, offsetShare }: Aims): number {
  return offsets.length > 0 ? distanceOfPair(offsets, pairs, p) : offsetShare * delta;
}

/**
 * Returns the gap that the contact of pair p aims for in the pull-back:
 *
 *   aim = min(o, d₀ + AIM_GROWTH δ)
 *
 * with the pair's contact offset o, its δ, and its distance d₀ at the start of the request. It is at least min(o, d₀),
 * so a request does not reduce a gap that the last one has reached or that the start had. A pair that begins nearer
 * than o is brought back to it over several requests, so that a start with tiny gaps is not pushed apart at once. The
 * aim is kept in `pairs.delta` for the rest of the request.
 *
 * This is guidance only: the motions that the forward step grants do not depend on it.
 *
 * @param delta δ of the pair
 * @param start float32[3·V] the initial state of the request
 */
export function aimOf(pairs: PairArrays, p: number, delta: number, start: Float32Array, aims: Aims): number {
  if (pairs.delta[p] === 0) {
    const offset = offsetOf(pairs, p, delta, aims);
    // An offset of 0 needs no distance and is not stored, because 0 means unknown.
    if (offset === 0) return 0;
    measureClosest(pairs, p, start);
    pairs.delta[p] = Math.min(offset, Math.sqrt(closest.squared) + AIM_GROWTH * delta);
  }
  return pairs.delta[p];
}
