import type { UntangleRequest } from '../contract/untangle.js';
import { LATER_REGION, NO_REGION, type UntangledState } from '../contract/untangle-answer.js';
import { drawPanel } from '../picture/panel.js';
import { encodePng } from '../picture/png.js';
import type { Vec } from '../picture/vector.js';
import { PANEL_SIZE, panelOptionsOf, placePanels, VIEW } from './panels.js';

/** Linear colours: of vertices that were on no wrong side, by part; of those that were; of those of later contours. */
const PLAIN: readonly Vec[] = [
  [0.6, 0.62, 0.65],
  [0.35, 0.5, 0.66],
];
const WRONG: Vec = [0.83, 0.08, 0.05];
const LATER: Vec = [0.95, 0.5, 0.05];

/** Draws start and answer side by side, with wrong sides in red. Needs no browser. @returns a PNG */
export function drawUntangled({ mesh, positions }: UntangleRequest, answer: UntangledState): Buffer {
  const states = [positions, answer.positions].map((state) => Float64Array.from(state));
  const { regions } = answer;
  const parts = mesh.parts ?? [];
  const partOf = (v: number): number =>
    Math.max(
      0,
      parts.findIndex(({ firstVertex, vertexCount }) => v >= firstVertex && v < firstVertex + vertexCount),
    );
  const colourOf = (v: number): Vec => {
    if (regions[v] === LATER_REGION) return LATER;
    return regions[v] === NO_REGION ? PLAIN[partOf(v) % PLAIN.length]! : WRONG;
  };
  const { drawable, options } = panelOptionsOf(mesh, states);
  const panels = states.map((state) =>
    drawPanel(drawable, state, states, VIEW, PANEL_SIZE.width, PANEL_SIZE.height, { ...options, colourOf }),
  );
  const { pixels, width, height } = placePanels(panels, ['START', 'ANSWER'], 0);
  return encodePng(width, height, pixels);
}
