import type { MeshInput } from '../contract/mesh.js';
import { listEdges, medianLength } from '../page/edges.js';
import { boundsOf } from '../page/study.js';
import type { Drawable, PanelOptions, Picture } from '../picture/panel.js';
import { drawWord } from '../picture/text.js';
import type { Vec } from '../picture/vector.js';

/** Pictures of several states side by side, as the commands draw them. */

/** Sizes in pixels. */
export const PANEL_SIZE = { width: 480, height: 400 };
const GAP = 6;
const HEADING = { height: 44, letters: 14, top: 16 };
const PAPER = 255;
export const INK = [62, 68, 78] as const;

/** From the front, above and right; z is up. */
export const VIEW: Vec = [-0.5, 1, -0.5];
/** Radius of rods in median segments, of grains and soft shadows in sizes of the scene. */
const ROD_RADIUS = 0.13;
const GRAIN_RADIUS = 1 / 260;
const CREASE_RADIUS = 0.05;

/** The elements of a mesh to draw, and radii that suit all states. */
export function panelOptionsOf(
  mesh: MeshInput,
  states: readonly Float64Array[],
): { readonly drawable: Drawable; readonly options: Omit<PanelOptions, 'colourOf'> } {
  const drawable: Drawable = {
    vertexCount: mesh.vertexCount,
    triangles: mesh.triangles ?? new Uint32Array(0),
    segments: mesh.segments ?? new Uint32Array(0),
    particles: mesh.particles ?? new Uint32Array(0),
  };
  const box = boundsOf(states);
  const size = Math.hypot(box[3] - box[0], box[4] - box[1], box[5] - box[2]) || 1;
  const segments = listEdges({ vertexCount: mesh.vertexCount, segments: drawable.segments });
  const options = {
    rodRadius: ROD_RADIUS * medianLength(segments, states[0]!) || size / 400,
    grainRadius: size * GRAIN_RADIUS,
    creaseRadius: size * CREASE_RADIUS,
  };
  return { drawable, options };
}

/** Places panels from left to right, each below its title. @param below pixels that stay free below them */
export function placePanels(panels: readonly Picture[], words: readonly string[], below: number) {
  const width = panels.length * (PANEL_SIZE.width + GAP) - GAP;
  const bottom = HEADING.height + PANEL_SIZE.height;
  const height = bottom + below;
  const pixels = new Uint8Array(3 * width * height).fill(PAPER);
  for (const [i, panel] of panels.entries()) {
    const left = i * (PANEL_SIZE.width + GAP);
    for (let y = 0; y < panel.height; y++) {
      const row = panel.pixels.subarray(3 * y * panel.width, 3 * (y + 1) * panel.width);
      const bytes = row.map((value) => Math.round(255 * Math.min(1, Math.max(0, value))));
      pixels.set(bytes, 3 * ((HEADING.height + y) * width + left));
    }
    drawWord(pixels, width, words[i]!, left + PANEL_SIZE.width / 2, HEADING.top, HEADING.letters, INK);
  }
  return { pixels, width, height, bottom };
}
