import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Positions } from '../../../src/contract/mesh.js';
import { readVertices } from '../cases/trace-files.js';

/** Pairs of elements that an iteration leaves out: an element with one of the vertices, and one that lies in the patch. */
export interface LeftOutRegion {
  readonly vertices: readonly number[];
  readonly patch: readonly number[];
}

/** A state of a path that the service wrote under INTERSTICE_TRACE, and its origin. */
export interface TracedState {
  readonly positions: Positions;
  /** the iteration that led to it; 0 = nothing was left out */
  readonly iteration: number;
  readonly leftOut: readonly LeftOutRegion[];
}

/** The path of an untangling, the start first; its folder is removed. @returns undefined if that request has none */
export function takeTracedPath(folder: string, requestId: string): TracedState[] | undefined {
  const path = join(folder, requestId);
  if (!existsSync(path)) return undefined;
  const states = readdirSync(path)
    .filter((name) => name.endsWith('.ply'))
    .sort()
    .map((name): TracedState => {
      const positions = readVertices(readFileSync(join(path, name)));
      const origin = join(path, name.replace('state', 'left-out').replace('.ply', '.json'));
      if (!existsSync(origin)) return { positions, iteration: 0, leftOut: [] };
      const { step, leftOut } = JSON.parse(readFileSync(origin, 'utf8')) as { step: number; leftOut: LeftOutRegion[] };
      return { positions, iteration: step, leftOut };
    });
  rmSync(path, { recursive: true, force: true });
  return states;
}
