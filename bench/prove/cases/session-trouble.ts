import { setTimeout as wait } from 'node:timers/promises';
import type { Positions } from '../../../src/contract/mesh.js';
import type { Door, Reply, StepTerms } from '../doors/door.js';

/** Errors that a session's client may make, and what it does if it does not know what became of a frame. */

/** A step that must be refused. */
export interface BadStep {
  readonly target: Positions;
  readonly terms: StepTerms;
  readonly frame: bigint;
  readonly code: string;
}

/** @param aim a correct target, from which wrong ones are derived */
export function badSteps(aim: Positions, x: Positions, frame: bigint): BadStep[] {
  const broken = aim.slice() as Positions;
  broken[broken.length - 1] = Number.NaN;
  const kinematic = new Uint8Array(aim.length / 3);
  const odd = kinematic.slice();
  odd[0] = 2;
  const unknownPart = { part: 'nobody', target: aim.slice(0, 3) as Positions };
  return [
    { frame, target: aim.slice(0, -3) as Positions, terms: {}, code: 'SIZE_MISMATCH' },
    { frame, target: broken, terms: {}, code: 'NOT_FINITE' },
    { frame, target: aim, terms: { start: x.slice(3) as Positions }, code: 'SIZE_MISMATCH' },
    { frame, target: aim, terms: { parts: [unknownPart] }, code: 'INVALID_PARAMETER' },
    { frame, target: aim, terms: { kinematic: kinematic.subarray(1) }, code: 'SIZE_MISMATCH' },
    { frame, target: aim, terms: { kinematic: odd }, code: 'INVALID_MESH' },
    { frame: 0n, target: aim, terms: {}, code: 'FRAME_OUT_OF_ORDER' },
  ];
}

/** ms for which an abandoned frame is sent again: the first step ends its present piece of work before. */
const PATIENCE_MS = 240_000;
/** ms between two of them */
const PAUSE_MS = 20;

/**
 * Sends a frame and hangs up, then sends it again with the same payload or another one. The client does not know
 * whether the first was accepted: if it was, the other payload is a conflict, and the first has its stored answer.
 *
 * @param targets the one whose sender hangs up; the other one, undefined = the same
 * @param after ms until the client hangs up
 * @returns undefined if it is never answered
 */
export async function hangUp(
  door: Door,
  id: string,
  frame: bigint,
  [first, other]: readonly [Positions, Positions | undefined],
  after: number,
  [firstId, secondId]: readonly string[],
): Promise<{ readonly target: Positions; readonly reply: Reply } | undefined> {
  const early = await door
    .step(id, frame, first, {}, { requestId: firstId, signal: AbortSignal.timeout(Math.floor(after)) })
    .catch(() => undefined);
  if (early && !isTransient(early)) return { target: first, reply: early };
  let target = other ?? first;
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; ) {
    const reply = await door.step(id, frame, target, {}, { requestId: secondId });
    if (!isTransient(reply)) return { target, reply };
    // The first one is being computed, or arrived in time after all.
    if ('refusal' in reply && reply.refusal.code === 'FRAME_CONFLICT')
      target = target === first ? (other ?? first) : first;
    await wait(PAUSE_MS);
  }
  return undefined;
}

function isTransient(reply: Reply): boolean {
  return 'refusal' in reply && ['CANCELLED', 'FRAME_CONFLICT'].includes(reply.refusal.code);
}
