/** sRGB, each from 0 to 1. */
export type Colour = readonly [number, number, number];

/**
 * Viridis as polynomials of degree six, whose error is below one part in a hundred (fit by Matt Zucker, public domain):
 * it is perceptually uniform, its lightness only increases, and it is readable with every kind of colour vision and in
 * grey.
 */
const VIRIDIS: readonly Colour[] = [
  [0.2777273272234177, 0.005407344544966578, 0.3340998053353061],
  [0.1050930431085774, 1.404613529898575, 1.384590162594685],
  [-0.3308618287255563, 0.214847559468213, 0.09509516302823659],
  [-4.634230498983486, -5.799100973351585, -19.33244095627987],
  [6.228269936347081, 14.17993336680509, 56.69055260068105],
  [4.776384997670288, -13.74514537774601, -65.35303263337234],
  [-5.435455855934631, 4.645852612178535, 26.3123352495832],
];

/** @param share from 0 to 1 */
export function viridis(share: number): Colour {
  const at = Math.min(1, Math.max(0, share));
  const channel = (c: number) =>
    Math.min(
      1,
      Math.max(
        0,
        VIRIDIS.reduceRight((sum, row) => sum * at + row[c]!, 0),
      ),
    );
  return [channel(0), channel(1), channel(2)];
}

/** Colours of dynamic bodies, which differ in lightness as well as hue; below, those of kinematic bodies. */
export const BODY_COLOURS: readonly Colour[] = [
  hex('#e4572e'),
  hex('#2f6fde'),
  hex('#f2b134'),
  hex('#3aa57a'),
  hex('#9b5de5'),
  hex('#d98cb3'),
  hex('#5bb8d4'),
  hex('#a9b44f'),
];
export const OBSTACLE_COLOUR: Colour = hex('#a3a9b4');

export function hex(text: string): Colour {
  const value = Number.parseInt(text.slice(1), 16);
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

export const cssOf = ([r, g, b]: Colour): string =>
  `rgb(${Math.round(255 * r)} ${Math.round(255 * g)} ${Math.round(255 * b)})`;

/** RGBA bytes of the map, from the lowest to the highest value. */
export function mapBytes(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(4 * size);
  for (let i = 0; i < size; i++) {
    const colour = viridis(i / (size - 1));
    for (let c = 0; c < 3; c++) bytes[4 * i + c] = Math.round(255 * colour[c]!);
    bytes[4 * i + 3] = 255;
  }
  return bytes;
}
