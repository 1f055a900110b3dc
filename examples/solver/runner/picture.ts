import { drawPanel, type Picture } from '../../../src/picture/panel.js';
import { encodePng } from '../../../src/picture/png.js';
import type { Scene as Drawn } from '../../scenes/types.js';
import type { Scene } from '../scenes/types.js';
import type { Model } from '../src/model.js';

const PANEL = { width: 320, height: 320 };
const GAP = 4;

/** Frames of a strip: the start, the last one, and others evenly between. */
export const framesOfStrip = (last: number, count: number): number[] =>
  count === 1 ? [last] : Array.from({ length: count }, (_, i) => Math.round((last * i) / (count - 1)));

/** Draws states side by side, all from the same place, as PNG. */
export function drawStrip(scene: Scene, model: Model, states: readonly Float64Array[]): Buffer {
  const drawn = describe(scene, model);
  // What moves must be seen; obstacles may reach beyond the picture.
  const framing = states.map((x) => x.filter((_, i) => !model.isKinematic[Math.floor(i / 3)]));
  const panels = states.map((x) => drawPanel(drawn, x, framing, scene.view, PANEL.width, PANEL.height));
  return join(panels);
}

function join(panels: readonly Picture[]): Buffer {
  const width = panels.length * (PANEL.width + GAP) - GAP;
  const pixels = new Uint8Array(3 * width * PANEL.height).fill(255);
  panels.forEach((panel, p) => {
    for (let y = 0; y < panel.height; y++) {
      for (let i = 0; i < 3 * panel.width; i++) {
        const value = Math.round(255 * Math.min(1, Math.max(0, panel.pixels[3 * y * panel.width + i]!)));
        pixels[3 * (y * width + p * (PANEL.width + GAP)) + i] = value;
      }
    }
  });
  return encodePng(width, PANEL.height, pixels);
}

/** What the renderer of the examples needs to know; bodies that are simulated have two colours by turns. */
function describe(scene: Scene, { vertexCount, mesh, parts, start }: Model): Drawn {
  let simulated = 0;
  const bodies = parts.map((part, b) => {
    const isObstacle = scene.bodies[b]!.material.kind === 'obstacle';
    const role = isObstacle ? 'obstacle' : simulated++ % 2 === 0 ? 'first' : 'second';
    return { ...part, role } as const;
  });
  const triangles = new Uint32Array([...mesh.triangles, ...boundaryOf(mesh.tetrahedra)]);
  const { segments, particles, tetrahedra } = mesh;
  const { name, sentence } = scene;
  const elements = { vertexCount, triangles, segments, particles, tetrahedra };
  return { name, sentence, ...elements, start, target: start, kinematicFrom: vertexCount, parameters: {}, bodies };
}

const FACES = [
  [1, 2, 3],
  [0, 3, 2],
  [0, 1, 3],
  [0, 2, 1],
];

/** Faces that belong to one tetrahedron only. @param tetrahedra uint32[4·K] */
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
