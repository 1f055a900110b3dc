import type { DiagnoseRequest, Diagnosis } from '../../src/contract/diagnosis.js';
import { diagnoseJob } from '../../src/jobs/diagnose-job.js';
import { openEngine } from '../../src/jobs/engines.js';
import { exactVerifier } from '../../src/jobs/verifier.js';
import { LIMITS } from '../support/job.js';
import { flatSheet } from '../support/sheet.js';

export interface Shape {
  readonly x: number[];
  readonly triangles: number[];
}

/** A sheet in the plane z, edges of length `size`, its corner at (left, 0). Normals point up. */
export function sheet(n: number, size: number, z = 0, left = 0): Shape {
  const { rest, triangles } = flatSheet(n, n, size);
  const x = Array.from(rest, (value, k) => (k % 3 === 2 ? z : value + (n * size) / 2 + (k % 3 === 0 ? left : 0)));
  return { x, triangles: [...triangles] };
}

/** A closed box from low to high, normals outwards. */
export function box([a, b, c]: readonly number[], [d, e, f]: readonly number[]): Shape {
  const x: number[] = [];
  for (const z of [c, f]) for (const y of [b, e]) for (const v of [a, d]) x.push(v, y, z);
  const quads = [
    [0, 2, 3, 1],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 4, 6, 2],
    [1, 3, 7, 5],
  ];
  return { x, triangles: quads.flatMap(([p, q, r, s]) => [p!, q!, r!, p!, r!, s!]) };
}

/** Shapes one after the other. */
export function together(...shapes: readonly Shape[]): Shape {
  const x: number[] = [];
  const triangles: number[] = [];
  for (const shape of shapes) {
    const first = x.length / 3;
    for (const v of shape.triangles) triangles.push(v + first);
    for (const value of shape.x) x.push(value);
  }
  return { x, triangles };
}

export const requestOf = ({ x, triangles }: Shape, more: Partial<DiagnoseRequest> = {}): DiagnoseRequest => ({
  mesh: { vertexCount: x.length / 3, triangles: Uint32Array.from(triangles) },
  positions: Float64Array.from(x),
  ...more,
});

/** Diagnoses a shape on the CPU engine with all its methods, in this thread. */
export async function diagnose(
  shape: Shape,
  more: Partial<DiagnoseRequest> = {},
  isCancelled = () => false,
): Promise<Diagnosis> {
  return diagnoseJob(requestOf(shape, more), {
    engine: await openEngine({ engine: 'cpu' }),
    limits: { ...LIMITS, maxVertices: 100_000, maxElements: 200_000 },
    allowUnverified: false,
    verifier: exactVerifier,
    now: () => performance.now(),
    isCancelled,
    onFinding: () => {},
  });
}

export const codesOf = ({ findings }: Diagnosis): string[] => findings.map(({ code }) => code);
export const findingOf = ({ findings }: Diagnosis, code: string) => findings.find((one) => one.code === code);
