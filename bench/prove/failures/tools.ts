import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../../src/paths.js';
import { Client } from '../doors/json-door.js';
import { findMeetings } from '../judge/state-judge.js';
import { readSurface } from '../judge/surface.js';
import type { ProveScene } from '../scenes/builder.js';
import { GENERATED } from '../scenes/generated.js';
import type { Random } from '../scenes/random.js';
import type { ServerProcess } from '../server.js';

/** A promise of the service is broken; any other error is an error of the campaign. */
export class Broken extends Error {}

export function assert(isTrue: boolean, complaint: string): asserts isTrue {
  if (!isTrue) throw new Broken(complaint);
}

/** Long enough on any machine: these faults compare bytes, and an answer that its budget cut short has others. */
const PATIENT_SECONDS = 300;

export const patientClient = (server: ServerProcess): Client => new Client(server.address, PATIENT_SECONDS);

export const makeScene = (random: Random): ProveScene => GENERATED.layers(random);

export function assertSafe(scene: ProveScene, x: ArrayLike<number>, where: string): void {
  const meetings = findMeetings(readSurface(scene.mesh), x, { kinematicPairs: 'SKIP' });
  assert(meetings.length === 0, `${meetings.length} pairs intersect ${where}.`);
}

export const targetOf = (scene: ProveScene, frame: number): Float64Array =>
  scene.start.map((p, i) => p + Math.sin(0.2 * frame) * (scene.target[i] - p));

/** The error and its place, for a report that others read: files are named relative to the project's root. */
export function describeThrown(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return text.replaceAll(`${pathToFileURL(projectRoot).href}/`, '').replaceAll(`${projectRoot}/`, '');
}
