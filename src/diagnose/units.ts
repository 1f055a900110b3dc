import type { DiagnosisFinding } from '../contract/diagnosis.js';
import { finding, type Subject, show } from './subject.js';

/** Common units of meshes, in metres. */
const UNITS: readonly (readonly [name: string, metres: number])[] = [
  ['metres', 1],
  ['centimetres', 0.01],
  ['millimetres', 0.001],
  ['inches', 0.0254],
];

/** Usual extents and edges of garments, bodies and props, metres; most meshes are of these kinds. */
const USUAL_EXTENT = [0.2, 4] as const;
const USUAL_EDGE = [0.002, 0.05] as const;

/** The geometric means of both ranges in metres, to which the best unit comes nearest. */
const MIDDLE_EXTENT = Math.sqrt(USUAL_EXTENT[0] * USUAL_EXTENT[1]);
const MIDDLE_EDGE = Math.sqrt(USUAL_EDGE[0] * USUAL_EDGE[1]);

export interface UnitGuess {
  readonly name: string;
  readonly metresPerUnit: number;
}

/**
 * The unit in which extent and edges would be those of a garment or a body: both within their usual range, and of
 * several such units the one whose logarithms are nearest to the middle. Centimetres and inches differ by less than the
 * width of both ranges, so inches are reported only if centimetres do not fit.
 */
function guessUnit(extent: number, medianEdge: number): UnitGuess | undefined {
  const within = (value: number, [low, high]: readonly [number, number]): boolean => value >= low && value <= high;
  const fits = UNITS.filter(([, m]) => within(extent * m, USUAL_EXTENT) && within(medianEdge * m, USUAL_EDGE));
  const error = (m: number): number =>
    Math.abs(Math.log((extent * m) / MIDDLE_EXTENT)) + Math.abs(Math.log((medianEdge * m) / MIDDLE_EDGE));
  const metric = fits.filter(([name]) => name !== 'inches');
  const [best] = (metric.length > 0 ? metric : fits).sort(([, a], [, b]) => error(a) - error(b));
  return best && { name: best[0], metresPerUnit: best[1] };
}

/** Reports the guess as a note, or that the mesh has no size. */
export function findUnits(subject: Subject): { guess: UnitGuess | undefined; findings: DiagnosisFinding[] } {
  const extent = extentOf(subject);
  const { medianEdge } = subject;
  if (extent === 0) {
    // A resolve accepts it: elements at one place that intersect are a finding of their own, and one particle has no extent.
    const count = subject.mesh.contactVertices.length;
    if (count === 1) return { guess: undefined, findings: [] };
    const message = `All ${count} vertices of elements have the same position.`;
    const advice = 'Nothing can be derived from their distances: activationDistance must be set.';
    const one = finding({ code: 'NO_EXTENT', severity: 'WARNING', count: 1, message, advice });
    return { guess: undefined, findings: [one] };
  }
  const guess = guessUnit(extent, medianEdge);
  const size = `The mesh is ${show(extent)} across, with edges of ${show(medianEdge)}`;
  if (!guess) return { guess, findings: [] };
  const inMetres = `${show(extent * guess.metresPerUnit)} m across, with edges of ${show(1000 * medianEdge * guess.metresPerUnit)} mm`;
  const one = finding({
    code: 'UNIT_GUESS',
    severity: 'NOTE',
    count: 1,
    measure: guess.metresPerUnit,
    unit: 'metres per unit',
    message: `${size}: probably ${guess.name} (${inMetres}, as a garment or a body would be). This is a guess.`,
    advice: `Nothing depends on it unless you use preset PAPER: then set metresPerUnit to ${guess.metresPerUnit}.`,
  });
  return { guess, findings: [one] };
}

/** Largest side of the box of all contact vertices. */
export function extentOf({ mesh, x }: Pick<Subject, 'mesh' | 'x'>): number {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const v of mesh.contactVertices) {
    for (let axis = 0; axis < 3; axis++) {
      low[axis] = Math.min(low[axis], x[3 * v + axis]);
      high[axis] = Math.max(high[axis], x[3 * v + axis]);
    }
  }
  return Math.max(0, ...high.map((end, axis) => end - low[axis]));
}
