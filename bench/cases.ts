import { join } from 'node:path';
import { requestOf } from '../examples/resolve-scene.js';
import { SCENES } from '../examples/scenes/index.js';
import type { ResolveRequest } from '../src/contract/requests.js';
import { readMeshFile, toMeshInput } from '../src/mesh/files/index.js';

/** One request to measure. */
export interface Case {
  readonly scene: string;
  readonly vertices: number;
  readonly triangles: number;
  readonly request: ResolveRequest;
}

/** The dress of the shared data: its first vertices are the garment, the rest is the mannequin. */
const DRESS = { start: 'x.obj', target: 'y_kick1_eighth.obj', kinematicFrom: 15105 };

/** Returns every scene that can be selected by name. */
export const sceneNames = (): string[] => [...Object.keys(SCENES), 'dress'];

async function readDress(folder: string): Promise<Case> {
  const start = await readMeshFile(join(folder, 'dress', DRESS.start));
  const target = await readMeshFile(join(folder, 'dress', DRESS.target));
  const kinematic = Uint8Array.from({ length: start.vertexCount }, (_, i) => (i < DRESS.kinematicFrom ? 0 : 1));
  return {
    scene: 'dress',
    vertices: start.vertexCount,
    triangles: start.triangles.length / 3,
    request: {
      mesh: { ...toMeshInput(start), kinematic },
      start: start.positions,
      target: target.positions,
      parameters: {},
    },
  };
}

/**
 * Yields the cases in the requested order. Each is made just before its measurement, because large ones must not be in
 * memory together.
 */
export async function* makeCases(
  scenes: readonly string[],
  vertexCounts: readonly number[],
  dataFolder: string | undefined,
): AsyncGenerator<Case> {
  for (const name of scenes) {
    if (name === 'dress') {
      if (dataFolder === undefined) throw new Error('The scene "dress" needs --data DIR or INTERSTICE_DATA.');
      yield await readDress(dataFolder);
      continue;
    }
    for (const count of vertexCounts.length > 0 ? vertexCounts : [undefined]) {
      const scene = SCENES[name](count);
      yield {
        scene: name,
        vertices: scene.vertexCount,
        triangles: scene.triangles.length / 3,
        request: requestOf(scene),
      };
    }
  }
}
