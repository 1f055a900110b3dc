/** The letters and digits of headings and scales, as strokes in a box of width `width` and height 1, y down. */
interface Glyph {
  readonly width: number;
  readonly strokes: readonly (readonly (readonly [number, number])[])[];
}

/** Points on an arc, angles in quarter turns, clockwise from the right. */
const arc = (cx: number, cy: number, rx: number, ry: number, from: number, to: number): [number, number][] =>
  Array.from({ length: 13 }, (_, i) => {
    const angle = ((from + ((to - from) * i) / 12) * Math.PI) / 2;
    return [cx + rx * Math.cos(angle), cy + ry * Math.sin(angle)];
  });

// biome-ignore format: readable as drawings
const GLYPHS: Readonly<Record<string, Glyph>> = {
  A: { width: 0.72, strokes: [[[0, 1], [0.36, 0], [0.72, 1]], [[0.13, 0.64], [0.59, 0.64]]] },
  E: { width: 0.5, strokes: [[[0.5, 0], [0, 0], [0, 1], [0.5, 1]], [[0, 0.48], [0.44, 0.48]]] },
  G: { width: 0.72, strokes: [arc(0.38, 0.5, 0.36, 0.5, -0.5, -3.4), [[0.44, 0.55], [0.7, 0.55], [0.7, 0.82]]] },
  N: { width: 0.62, strokes: [[[0, 1], [0, 0], [0.62, 1], [0.62, 0]]] },
  R: { width: 0.58, strokes: [[[0, 1], [0, 0], [0.28, 0], ...arc(0.28, 0.26, 0.26, 0.26, -1, 1), [0, 0.52]], [[0.26, 0.52], [0.58, 1]]] },
  I: { width: 0.1, strokes: [[[0.05, 0], [0.05, 1]]] },
  K: { width: 0.56, strokes: [[[0, 0], [0, 1]], [[0.54, 0], [0, 0.58]], [[0.2, 0.4], [0.56, 1]]] },
  M: { width: 0.72, strokes: [[[0, 1], [0, 0], [0.36, 0.62], [0.72, 0], [0.72, 1]]] },
  S: { width: 0.54, strokes: [[...arc(0.27, 0.25, 0.25, 0.25, -0.35, -3), ...arc(0.27, 0.75, 0.26, 0.25, -1, 1.65)]] },
  T: { width: 0.64, strokes: [[[0, 0], [0.64, 0]], [[0.32, 0], [0.32, 1]]] },
  U: { width: 0.6, strokes: [[[0, 0], ...arc(0.3, 0.66, 0.3, 0.34, 2, 0), [0.6, 0]]] },
  '0': { width: 0.54, strokes: [arc(0.27, 0.5, 0.27, 0.5, 0, 4)] },
  '1': { width: 0.26, strokes: [[[0, 0.22], [0.2, 0], [0.2, 1]]] },
  '2': { width: 0.54, strokes: [[...arc(0.27, 0.28, 0.25, 0.28, -2, 0.35), [0.02, 1], [0.54, 1]]] },
  '3': { width: 0.54, strokes: [[...arc(0.26, 0.25, 0.23, 0.25, -1.9, 1)], [...arc(0.26, 0.74, 0.27, 0.26, -1, 1.9)]] },
  '4': { width: 0.6, strokes: [[[0.44, 1], [0.44, 0], [0, 0.7], [0.6, 0.7]]] },
  '5': { width: 0.54, strokes: [[[0.5, 0], [0.08, 0], [0.05, 0.44], ...arc(0.26, 0.68, 0.27, 0.32, -1.4, 1.75)]] },
  '6': { width: 0.54, strokes: [arc(0.27, 0.68, 0.26, 0.32, 0, 4), [[0.44, 0], [0.12, 0.42], [0.02, 0.64]]] },
  '7': { width: 0.52, strokes: [[[0, 0], [0.52, 0], [0.16, 1]]] },
  '8': { width: 0.54, strokes: [arc(0.27, 0.25, 0.22, 0.25, 0, 4), arc(0.27, 0.74, 0.27, 0.26, 0, 4)] },
  '9': { width: 0.54, strokes: [arc(0.27, 0.32, 0.26, 0.32, 0, 4), [[0.52, 0.36], [0.42, 0.58], [0.1, 1]]] },
  '.': { width: 0.06, strokes: [[[0.03, 0.97], [0.03, 1]]] },
  ' ': { width: 0.2, strokes: [] },
  W: { width: 0.94, strokes: [[[0, 0], [0.22, 1], [0.47, 0.15], [0.72, 1], [0.94, 0]]] },
};

/** Space between letters, and half the width of a stroke, in letter heights. */
const SPACING = 0.3;
const HALF_STROKE = 0.062;

const glyphOf = (letter: string): Glyph => {
  const glyph = GLYPHS[letter];
  if (!glyph) throw new Error(`The letter ${letter} has no drawing.`);
  return glyph;
};

function distanceTo(x: number, y: number, a: readonly [number, number], b: readonly [number, number]): number {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const lengthSquared = dx * dx + dy * dy;
  const share = lengthSquared === 0 ? 0 : ((x - a[0]) * dx + (y - a[1]) * dy) / lengthSquared;
  const t = Math.min(1, Math.max(0, share));
  return Math.hypot(x - a[0] - t * dx, y - a[1] - t * dy);
}

/**
 * Draws a word, centred, into a picture.
 * @param pixels uint8[3·width·…] changed in place
 * @param top,height pixels
 * @throws Error for a letter that is not defined above
 */
export function drawWord(
  pixels: Uint8Array,
  width: number,
  word: string,
  centreX: number,
  top: number,
  height: number,
  colour: readonly [number, number, number],
): void {
  const letters = Array.from(word, glyphOf);
  const total = letters.reduce((sum, glyph) => sum + glyph.width + SPACING, -SPACING) * height;
  let left = centreX - total / 2;
  for (const glyph of letters) {
    const rim = Math.ceil(HALF_STROKE * height) + 1;
    for (let y = Math.floor(top - rim); y <= top + height + rim; y++) {
      for (let x = Math.floor(left - rim); x <= left + glyph.width * height + rim; x++) {
        let nearest = Number.POSITIVE_INFINITY;
        for (const stroke of glyph.strokes) {
          for (let i = 1; i < stroke.length; i++) {
            const [px, py] = [(x + 0.5 - left) / height, (y + 0.5 - top) / height];
            nearest = Math.min(nearest, distanceTo(px, py, stroke[i - 1], stroke[i]));
          }
        }
        const ink = Math.min(1, Math.max(0, (HALF_STROKE - nearest) * height + 0.5));
        const at = 3 * (y * width + x);
        for (let c = 0; c < 3; c++) pixels[at + c] = Math.round(pixels[at + c] * (1 - ink) + colour[c] * ink);
      }
    }
    left += (glyph.width + SPACING) * height;
  }
}
