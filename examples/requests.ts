import { makeLayers } from './scenes/layers.js';
import type { Scene } from './scenes/types.js';

/** Vertices of the scene: the pair `layers` in small, so that people can read its numbers. */
const VERTICES = 18;

/** Digits behind the point, as in the OBJ files. */
const rounded = (values: Float64Array): number[] => Array.from(values, (value) => Number(value.toFixed(7)));

function meshOf(scene: Scene): object {
  const half = scene.vertexCount / 2;
  return {
    vertexCount: scene.vertexCount,
    triangles: Array.from(scene.triangles),
    parts: [
      { name: 'lower', firstVertex: 0, vertexCount: half },
      { name: 'upper', firstVertex: half, vertexCount: half },
    ],
  };
}

/** How the sheets lie: their normals point upwards. */
const LAYERS = { inner: 'lower', outer: 'upper' };

/** The vertex in the middle of the upper sheet hangs through the lower one by a quarter of their gap. */
function pierced(start: readonly number[]): number[] {
  const [low, high] = [4, 13].map((vertex) => 3 * vertex + 2) as [number, number];
  const gap = start[high]! - start[low]!;
  return start.map((value, k) => (k === high ? Number((start[low]! - gap / 4).toFixed(7)) : value));
}

/** Requests in JSON for each operation that takes positions, as name → body. The API reference shows them. */
export function exampleRequests(): Map<string, object> {
  const scene = makeLayers(VERTICES);
  const mesh = meshOf(scene);
  const start = { data: rounded(scene.start) };
  const target = { data: rounded(scene.target) };
  return new Map<string, object>([
    ['resolve', { mesh, start, target, parameters: { preset: 'TUNED' }, timeBudget: '10s' }],
    ['check', { mesh, positions: start, pathEnd: target }],
    ['diagnose', { mesh, positions: start, target }],
    ['untangle', { mesh, positions: { data: pierced(start.data) }, options: { layers: [LAYERS] } }],
    ['session', { mesh, start, label: 'layers' }],
    ['step', { target, timeBudget: '10s' }],
  ]);
}

/** A body as a file, with one line per field. */
export const writeRequest = (body: object): string =>
  `{\n${Object.entries(body)
    .map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(',\n')}\n}\n`;
