import type { Operations } from '../src/contract/operations.js';
import type { Quality } from '../src/contract/parameters.js';
import type { ResolveAnswer, ResolveRequest } from '../src/contract/requests.js';
import { buildMesh } from '../src/mesh/build.js';
import type { CollisionMesh } from '../src/mesh/types.js';
import type { Case } from './cases.js';

const QUALITIES: readonly Quality[] = ['FAST', 'BALANCED', 'FINE'];

/** An edge counts as overlong above σ·(1 + this): the limit is kept in float32. */
const LIMIT_ROUNDING = 1e-4;

/** How near an answer is to its target; lengths in the caller's unit, over dynamic vertices and edges with one. */
interface Fidelity {
  readonly rms: number;
  readonly max: number;
  /** rms of the difference of edge vectors, over the mean edge of the target */
  readonly edgeError: number;
  /** edges longer than σ times their length in the target, and the largest such ratio */
  readonly overlong: number;
  readonly maxStretch: number;
}

function measureFidelity(mesh: CollisionMesh, { target }: ResolveRequest, answer: ResolveAnswer): Fidelity {
  const { positions: x, report } = answer;
  const sigma = report.resolved.stretchLimit || Number.POSITIVE_INFINITY;
  let sum = 0;
  let count = 0;
  let max = 0;
  for (let i = 0; i < mesh.vertexCount; i++) {
    if (mesh.kinematic[i]) continue;
    const squared = [0, 1, 2].reduce((s, c) => s + (x[3 * i + c] - target[3 * i + c]) ** 2, 0);
    sum += squared;
    count++;
    max = Math.max(max, Math.sqrt(squared));
  }
  let edgeSum = 0;
  let lengths = 0;
  let edges = 0;
  let overlong = 0;
  let maxStretch = 0;
  for (const ends of [mesh.edges, mesh.innerEdges]) {
    for (let e = 0; e < ends.length; e += 2) {
      const [i, j] = [ends[e], ends[e + 1]];
      if (mesh.kinematic[i] && mesh.kinematic[j]) continue;
      let [difference, stretched, rest] = [0, 0, 0];
      for (let c = 0; c < 3; c++) {
        const a = x[3 * i + c] - x[3 * j + c];
        const b = target[3 * i + c] - target[3 * j + c];
        difference += (a - b) ** 2;
        stretched += a * a;
        rest += b * b;
      }
      edges++;
      edgeSum += difference;
      lengths += Math.sqrt(rest);
      if (rest === 0) continue;
      const ratio = Math.sqrt(stretched / rest);
      maxStretch = Math.max(maxStretch, ratio);
      if (ratio > sigma * (1 + LIMIT_ROUNDING)) overlong++;
    }
  }
  const edgeError = edges === 0 ? 0 : Math.sqrt(edgeSum / edges) / (lengths / edges);
  return { rms: Math.sqrt(sum / Math.max(1, count)), max, edgeError, overlong, maxStretch };
}

/** The headings of {@link fidelityRow}. */
export const FIDELITY_HEADINGS = [
  ...[
    'scene',
    'quality',
    'status',
    'steps/searches',
    'rms',
    'max',
    'edge error',
    'overlong',
    'max stretch',
    'solve ms',
  ],
];

/** Every quality of one case: what it costs, median of `repeats`, and how near its answer is. */
export async function measureQualities(operations: Operations, subject: Case, repeats: number): Promise<string[][]> {
  const mesh = buildMesh(subject.request.mesh);
  const rows: string[][] = [];
  for (const quality of QUALITIES) {
    const request = { ...subject.request, parameters: { ...subject.request.parameters, quality } };
    const answers: ResolveAnswer[] = [];
    for (let n = 0; n < repeats; n++) answers.push(await operations.resolve(request));
    rows.push(fidelityRow(subject.scene, quality, measureFidelity(mesh, subject.request, answers[0]), answers));
  }
  return rows;
}

function fidelityRow(scene: string, quality: Quality, f: Fidelity, answers: readonly ResolveAnswer[]): string[] {
  const { status, steps, searches } = answers[0].report;
  const times = answers
    .map(({ report: { timings } }) => (timings.search + timings.geometry + timings.backward + timings.forward) / 1000)
    .sort((a, b) => a - b);
  const digits = (value: number) => value.toPrecision(3);
  return [
    ...[scene, quality, status, `${steps}/${searches}`, digits(f.rms), digits(f.max), digits(f.edgeError)],
    ...[String(f.overlong), f.maxStretch.toFixed(2), times[times.length >> 1].toFixed(0)],
  ];
}
