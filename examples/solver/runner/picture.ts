import { BODY_COLOURS, OBSTACLE_COLOUR } from '../../../src/page/colours.js';
import { bodiesOf, joined, type Sheet } from '../../pictures/sheet.js';
import type { Scene } from '../scenes/types.js';
import type { Model } from '../src/model.js';

const PANEL = { width: 320, height: 320 };

/** Frames of a strip: the start, the last one, and others at equal distances between them. */
export const framesOfStrip = (last: number, count: number): number[] =>
  count === 1 ? [last] : Array.from({ length: count }, (_, i) => Math.round((last * i) / (count - 1)));

/** States side by side, all from the same viewpoint. Simulated bodies have alternating colours. */
export function stripOf(scene: Scene, { mesh, parts, isKinematic }: Model, states: readonly Float64Array[]): Sheet {
  let simulated = 0;
  const colours = parts.map((_, b) => {
    const isObstacle = scene.bodies[b]!.material.kind === 'obstacle';
    return isObstacle ? OBSTACLE_COLOUR : BODY_COLOURS[simulated++ % BODY_COLOURS.length]!;
  });
  const { segments, particles } = mesh;
  const triangles = Uint32Array.from([...mesh.triangles, ...boundaryOf(mesh.tetrahedra)]);
  const row = {
    bodies: bodiesOf(parts, { triangles, segments, particles }, (_, b) => colours[b]!),
    states: states.map((x) => Float32Array.from(x)),
    // Moving bodies must be visible; obstacles may extend beyond the picture.
    framed: joined(states.map((x) => x.filter((_, i) => !isKinematic[Math.floor(i / 3)]))),
    view: scene.view,
  };
  return { rows: [row], panel: PANEL };
}

const FACES = [
  [1, 2, 3],
  [0, 3, 2],
  [0, 1, 3],
  [0, 2, 1],
];

/** Faces that belong to only one tetrahedron. @param tetrahedra uint32[4·K] */
export function boundaryOf(tetrahedra: Uint32Array): number[] {
  const faces = new Map<string, number[]>();
  for (let i = 0; i < tetrahedra.length; i += 4) {
    for (const corners of FACES) {
      const face = corners.map((corner) => tetrahedra[i + corner]!);
      const key = [...face].sort((a, b) => a - b).join(' ');
      if (!faces.delete(key)) faces.set(key, face);
    }
  }
  return [...faces.values()].flat();
}
