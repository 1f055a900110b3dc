import type { Positions } from '../contract/mesh.js';
import type { ResolveRequest } from '../contract/requests.js';
import { type Colour, viridis } from '../page/colours.js';
import { distances, rangeOf } from '../page/fields/field.js';
import { formatNumber, lengthScale } from '../page/format.js';
import { findParts } from '../page/parts.js';
import { drawPanel, type Picture } from '../picture/panel.js';
import { encodePng } from '../picture/png.js';
import { drawWord } from '../picture/text.js';
import type { Vec } from '../picture/vector.js';
import { INK, PANEL_SIZE, panelOptionsOf, placePanels, VIEW } from './panels.js';

export type UpAxis = 'y' | 'z';

/** Sizes of the scale, pixels. */
const SCALE = { height: 52, width: 240, ramp: 12, letters: 10 };

/**
 * Draws start, target and answer side by side, the answer coloured by its distance to the target with a scale below it;
 * without an answer only start and target. Needs no browser.
 *
 * @returns a PNG
 */
export function drawReport(request: ResolveRequest, answer: Positions | undefined, up: UpAxis): Buffer {
  const { mesh, start, target } = request;
  const states = [start, target, ...(answer ? [answer] : [])].map((state) => upright(state, up));
  const parts = findParts(mesh);
  const { drawable, options } = panelOptionsOf(mesh, states);
  const away = answer && distances(answer, target);
  const most = (away && rangeOf(away)?.high) || 0;
  const panels = states.map((state, i) => {
    const isAnswer = i === 2;
    const colourOf = (v: number): Vec =>
      linear(isAnswer && most > 0 ? viridis(away![v]! / most) : parts.list[parts.of[v]!]!.colour);
    return drawPanel(drawable, state, states, VIEW, PANEL_SIZE.width, PANEL_SIZE.height, { ...options, colourOf });
  });
  return compose(panels, answer ? most : undefined);
}

/** Returns float64[3·V] with z up. */
const upright = (state: Positions, up: UpAxis): Float64Array => {
  if (up === 'z') return Float64Array.from(state);
  return Float64Array.from(state, (_, i) => (i % 3 === 0 ? state[i]! : i % 3 === 1 ? -state[i + 1]! : state[i - 1]!));
};

const linear = (colour: Colour): Vec => [toLinear(colour[0]), toLinear(colour[1]), toLinear(colour[2])];

const toLinear = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

/** @param most distance at the end of the scale, in the unit of the files; undefined = no scale */
function compose(panels: readonly Picture[], most: number | undefined): Buffer {
  const below = most === undefined ? 0 : SCALE.height;
  const { pixels, width, height, bottom } = placePanels(panels, ['START', 'TARGET', 'ANSWER'], below);
  if (most !== undefined) drawScale(pixels, width, bottom, most);
  return encodePng(width, height, pixels);
}

/** Draws the colours of distances with the values at both ends, below the answer. */
function drawScale(pixels: Uint8Array, width: number, top: number, most: number): void {
  const centre = width - PANEL_SIZE.width / 2;
  const left = Math.round(centre - SCALE.width / 2);
  for (let y = 0; y < SCALE.ramp; y++) {
    for (let x = 0; x < SCALE.width; x++) {
      const colour = viridis(x / (SCALE.width - 1)).map((value) => Math.round(255 * value));
      pixels.set(colour, 3 * ((top + 12 + y) * width + left + x));
    }
  }
  const { name, factor } = lengthScale(most, 'unit');
  const below = top + 12 + SCALE.ramp + 9;
  const end = most * factor;
  // Very large or small values have no room below the scale, and the font has no characters for powers.
  const text = end >= 1e-4 && end < 1e7 ? formatNumber(end).replaceAll(',', '') : end === 0 ? '0' : '';
  drawWord(pixels, width, '0', left + 4, below, SCALE.letters, INK);
  drawWord(pixels, width, `${text} ${name.toUpperCase()}`, left + SCALE.width - 20, below, SCALE.letters, INK);
}
