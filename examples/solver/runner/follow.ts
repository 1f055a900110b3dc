import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { makeFolder } from '../../../src/folders.js';
import type { Scene } from '../scenes/types.js';
import { NO_CONTACTS } from '../src/contacts.js';
import { type State, startOf } from '../src/integrator.js';
import type { Model } from '../src/model.js';
import { type Parameters, Service } from '../src/service.js';
import type { FrameCache } from './cache.js';
import { integratorSettingsOf } from './play.js';
import { interpolate, type Refinement } from './refine.js';

/** The frames of a coarse model, which lead a fine model to a frame of a scene. */
export interface Leader {
  /** frames of the coarse model, from its start */
  readonly cache: FrameCache;
  readonly refinement: Refinement;
  /** float64[3·coarse V] its initial state */
  readonly start: Float64Array;
}

export interface FollowOptions {
  readonly address: string;
  readonly parameters: Parameters;
  /** frames from one target to the next */
  readonly stride: number;
  /** stores the state that was reached */
  readonly folder: string;
  /** called after every answer; false ends it early */
  readonly onTarget: (frame: number, steps: number) => boolean;
}

/**
 * Leads a model to a frame of a scene without dynamics: the service moves it after a coarse model that was simulated,
 * target by target. A target is the start with the displacement of the coarse model; the service keeps apart the parts
 * that intersect in it, so the reached state is free of intersections and no path has passed through anything. Its
 * velocity is that of the coarse model.
 *
 * @param frame of the scene
 * @returns undefined if it was ended early
 */
export async function follow(
  scene: Scene,
  model: Model,
  frame: number,
  leader: Leader,
  { address, parameters, stride, folder, onTarget }: FollowOptions,
): Promise<State | undefined> {
  const file = join(folder, `state-${frame}`);
  if (existsSync(file)) return deserialize(readFileSync(file)) as State;
  const begin = startOf(model);
  if (frame === 0) return begin;
  const displaced = (index: number): Float64Array => {
    const coarse = leader.cache.read(index).map((value, i) => value - leader.start[i]!);
    const y = interpolate(leader.refinement, coarse).map((value, i) => value + model.start[i]!);
    model.prescribe(index * scene.timeStep, y);
    return y;
  };
  const apiKey = process.env.INTERSTICE_API_KEY;
  const service = await Service.open(address, model, begin.x, { ...scene.parameters, ...parameters }, { apiKey });
  try {
    const distances = {
      activationDistance: service.parameter('activationDistance'),
      contactOffset: service.parameter('contactOffset'),
    };
    const { repulsionDistance } = integratorSettingsOf(scene, distances);
    let [x, contacts] = [begin.x, NO_CONTACTS];
    for (let at = Math.min(stride, frame); ; at = Math.min(at + stride, frame)) {
      const answer = await service.step(displaced(at), repulsionDistance);
      ({ positions: x, contacts } = answer);
      if (!onTarget(at, answer.report.steps)) return undefined;
      if (at === frame) break;
    }
    const [last, before] = [displaced(frame), displaced(frame - 1)];
    const velocity = last.map((value, i) => (value - before[i]!) / scene.timeStep);
    const state = { frame, x, velocity, contacts };
    makeFolder(folder);
    writeFileSync(`${file}.new`, serialize(state));
    renameSync(`${file}.new`, file);
    return state;
  } finally {
    await service.close();
  }
}
