import type { Surface } from './surface.js';
import { dot, normalise, type Vec } from './vector.js';

/** In eye coordinates: x right, y down, z away. */
const KEY: Vec = normalise([-0.45, -0.75, -0.6]);
const FILL: Vec = normalise([0.8, -0.1, -0.5]);
const KEY_STRENGTH = 0.78;
const FILL_STRENGTH = 0.18;
const AMBIENT = 0.34;

const TAPS = 20;
/** Golden angle: taps spread evenly without a pattern. */
const TURN = Math.PI * (3 - Math.sqrt(5));
/**
 * float64[TAPS] positions of the taps without rotation, in reaches of the shadow; equally many per ring of equal area.
 */
const TAP_X = Float64Array.from({ length: TAPS }, (_, tap) => Math.sqrt((tap + 0.5) / TAPS) * Math.cos(tap * TURN));
const TAP_Y = Float64Array.from({ length: TAPS }, (_, tap) => Math.sqrt((tap + 0.5) / TAPS) * Math.sin(tap * TURN));
const CREASE_STRENGTH = 0.85;

/** A number in [0, 1) per sample that rotates the taps, so that a few taps look like many after averaging. */
const scatter = (x: number, y: number): number => {
  const h = Math.imul(x * 374761393 + y * 668265263, 1274126177);
  return ((h ^ (h >>> 15)) >>> 0) / 2 ** 32;
};

/**
 * The fraction of the sky that a sample sees: 1 in the open, less in creases and under other bodies.
 * @param radius the reach of a soft shadow, in the unit of the positions
 */
function openness(surface: Surface, x: number, y: number, radius: number, focal: number): number {
  const { width, height, depth: depths, normals } = surface;
  const sample = y * width + x;
  const depth = depths[sample];
  // Scalars instead of vectors, because this is called for every sample.
  const normalX = normals[3 * sample];
  const normalY = normals[3 * sample + 1];
  const normalZ = normals[3 * sample + 2];
  const reach = (radius * focal) / depth;
  const start = 2 * Math.PI * scatter(x, y);
  const cosine = reach * Math.cos(start);
  const sine = reach * Math.sin(start);
  let covered = 0;
  for (let tap = 0; tap < TAPS; tap++) {
    const tapX = Math.round(x + cosine * TAP_X[tap] - sine * TAP_Y[tap]);
    const tapY = Math.round(y + sine * TAP_X[tap] + cosine * TAP_Y[tap]);
    if (tapX < 0 || tapY < 0 || tapX >= width || tapY >= height) continue;
    const other = depths[tapY * width + tapX];
    if (other === Number.POSITIVE_INFINITY) continue;
    const toX = ((tapX - x) * depth) / focal;
    const toY = ((tapY - y) * depth) / focal;
    const toZ = other - depth;
    const length = Math.sqrt(toX * toX + toY * toY + toZ * toZ);
    if (length === 0) continue;
    const rise = (normalX * toX + normalY * toY + normalZ * toZ) / length;
    // Bodies far in front cast no shadow; they only overlap in the picture.
    const nearness = Math.max(0, 1 - length / (2 * radius));
    covered += Math.max(0, rise - 0.12) * nearness;
  }
  return Math.max(0, 1 - (CREASE_STRENGTH * 2.2 * covered) / TAPS);
}

const toScreen = (linear: number): number =>
  linear <= 0.0031308 ? 12.92 * linear : 1.055 * Math.min(1, linear) ** (1 / 2.4) - 0.055;

/** Linear background from top to bottom. */
const SKY: Vec = [0.93, 0.94, 0.955];
const FLOOR: Vec = [0.78, 0.8, 0.83];

/**
 * Lights a surface and averages its samples to pixels.
 * @returns float32[3·w·h] screen values 0 … 1, w and h divided by `samples`
 */
export function light(surface: Surface, samples: number, focal: number, radius: number): Float32Array {
  const width = surface.width / samples;
  const height = surface.height / samples;
  const out = new Float32Array(3 * width * height);
  for (let y = 0; y < surface.height; y++) {
    const share = y / surface.height;
    for (let x = 0; x < surface.width; x++) {
      const sample = y * surface.width + x;
      const pixel = 3 * (Math.floor(y / samples) * width + Math.floor(x / samples));
      const isEmpty = surface.depth[sample] === Number.POSITIVE_INFINITY;
      const normal: Vec = [
        surface.normals[3 * sample],
        surface.normals[3 * sample + 1],
        surface.normals[3 * sample + 2],
      ];
      const open = isEmpty ? 1 : openness(surface, x, y, radius, focal);
      const key = KEY_STRENGTH * Math.max(0, dot(normal, KEY)) * (0.55 + 0.45 * open);
      const brightness = open * AMBIENT + key + FILL_STRENGTH * Math.max(0, dot(normal, FILL)) * open;
      for (let c = 0; c < 3; c++) {
        const linear = isEmpty ? SKY[c] + share * (FLOOR[c] - SKY[c]) : surface.colours[3 * sample + c] * brightness;
        out[pixel + c] += toScreen(linear) / (samples * samples);
      }
    }
  }
  return out;
}
