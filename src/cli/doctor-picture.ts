import type { Diagnosis } from '../contract/diagnosis.js';
import type { MeshFile } from '../mesh/files/index.js';
import { drawPanel, type Picture } from '../picture/panel.js';
import { encodePng } from '../picture/png.js';
import type { Vec } from '../picture/vector.js';

/** Pixels along each side. */
const SIZE = 800;

/** From the front, above and right; z is up, as in the pictures of `explain`. */
const VIEW: Vec = [-0.5, 1, -0.5];

/** Linear colours: elements that no finding names, and those that a finding names, by severity. */
const PLAIN: Vec = [0.6, 0.62, 0.65];
const COLOURS = { PROBLEM: [0.83, 0.08, 0.05], WARNING: [0.95, 0.5, 0.05], NOTE: [0.1, 0.35, 0.75] } as const;

/** Sizes of rods, grains and soft shadows as shares of the size of the scene. */
const ROD_RADIUS = 1 / 400;
const GRAIN_RADIUS = 1 / 260;
const CREASE_RADIUS = 0.05;

/**
 * Share of the size of the scene within which vertices around a named one are coloured too: one alone is too small to
 * see.
 */
const HALO = 1 / 80;

/**
 * Draws the mesh with the elements of findings in colour: red for problems, orange for warnings, blue for notes.
 *
 * @param file finite positions
 * @returns a PNG
 */
export function drawDiagnosis(file: MeshFile, answer: Diagnosis): Buffer {
  const x = Float64Array.from(file.positions, (value) => (Number.isFinite(value) ? value : 0));
  const size = extentOf(x) || 1;
  const colours = colourVertices(x, answer, HALO * size);
  const options = {
    colourOf: (v: number): Vec => colours.get(v) ?? PLAIN,
    rodRadius: ROD_RADIUS * size,
    grainRadius: GRAIN_RADIUS * size,
    creaseRadius: CREASE_RADIUS * size,
  };
  return encodePng(SIZE, SIZE, toBytes(drawPanel(file, x, [x], VIEW, SIZE, SIZE, options)));
}

/** For each vertex, the colour of the worst finding that names it or a vertex near it. */
function colourVertices(x: Float64Array, { findings, regions }: Diagnosis, halo: number): Map<number, Vec> {
  const colours = new Map<number, Vec>();
  const ofRegions = regions.flatMap(({ pairs }) => pairs.flatMap(({ a, b }) => [...a, ...b]));
  // The worst comes last, so that it prevails.
  for (const severity of ['NOTE', 'WARNING', 'PROBLEM'] as const) {
    const named = findings
      .filter((one) => one.severity === severity && one.code !== 'KINEMATIC_CANDIDATE')
      .flatMap(({ elements }) => elements.flatMap(({ vertices }) => vertices));
    if (severity === 'PROBLEM') named.push(...ofRegions);
    for (const centre of new Set(named)) {
      for (let v = 0; v < x.length / 3; v++) {
        const away = Math.hypot(
          x[3 * v] - x[3 * centre],
          x[3 * v + 1] - x[3 * centre + 1],
          x[3 * v + 2] - x[3 * centre + 2],
        );
        if (away <= halo) colours.set(v, COLOURS[severity] as unknown as Vec);
      }
    }
  }
  return colours;
}

function extentOf(x: Float64Array): number {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let k = 0; k < x.length; k++) {
    low[k % 3] = Math.min(low[k % 3], x[k]);
    high[k % 3] = Math.max(high[k % 3], x[k]);
  }
  return Math.hypot(...high.map((end, axis) => end - low[axis]));
}

const toBytes = ({ pixels }: Picture): Uint8Array =>
  Uint8Array.from(pixels, (value) => Math.round(255 * Math.min(1, Math.max(0, value))));
