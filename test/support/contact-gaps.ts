import type { MeshInput } from '../../src/contract/mesh.js';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import type { Engine } from '../../src/solver/engine.js';
import { CoordinateFrame, floorOf } from '../../src/solver/frame.js';
import { resolveParameters } from '../../src/solver/parameters.js';
import { NO_VERTEX } from '../../src/verify/contact-list.js';
import { findContacts } from '../../src/verify/distance.js';
import { findIntersections } from '../../src/verify/state.js';

/** A pair whose contacts press. */
export interface PressedPair {
  readonly mesh: MeshInput;
  readonly start: Float64Array;
  readonly target: Float64Array;
}

/** A frame of a session. Gaps are those of vertices with a contact nearer than 1.3 of the offset asked for, in δ. */
export interface OffsetFrame {
  readonly least: number;
  readonly median: number;
  readonly contacts: number;
  readonly rms: number;
  readonly intersections: number;
}

const RULES = { kinematicPairs: 'SKIP', maxPairs: 1 } as const;

/** Contacts whose closest points lean on a corner by less do not push it. */
const LEAST_WEIGHT = 0.05;

/**
 * A kinematic table at height 0 and sheets above it, from 2 δ up, all of which want to be below it. δ is 0.01.
 *
 * @param gap between layers at the start
 * @param depth of the lowest target
 */
export function sheetsOnTable(sheets: number, gap: number, depth: number): PressedPair {
  const start: number[] = [];
  const target: number[] = [];
  const triangles: number[] = [];
  const kinematic: number[] = [];
  const add = (n: number, size: number, from: number, to: number, isKinematic: boolean): void => {
    const first = kinematic.length;
    for (let row = 0; row <= n; row++) {
      for (let column = 0; column <= n; column++) {
        const [x, y] = [size * (column / n - 0.5), size * (row / n - 0.5)];
        start.push(x, y, from);
        target.push(x, y, to);
        kinematic.push(isKinematic ? 1 : 0);
        if (row === n || column === n) continue;
        const at = first + row * (n + 1) + column;
        triangles.push(at, at + 1, at + n + 2, at, at + n + 2, at + n + 1);
      }
    }
  };
  add(14, 1.5, 0, 0, true);
  for (let k = 0; k < sheets; k++) add(10 - k, 1, gap * (k + 1), -depth * (k + 1), false);
  const mesh = {
    vertexCount: kinematic.length,
    triangles: Uint32Array.from(triangles),
    kinematic: Uint8Array.from(kinematic),
  };
  return { mesh, start: Float64Array.from(start), target: Float64Array.from(target) };
}

/**
 * A loose heap of grains above a kinematic table, 1.1 δ apart and a little out of line, all of which want to be lower by
 * half of δ, which is 0.01. The lowest cannot go so far.
 *
 * @param side grains along each side of a layer
 */
export function grainsOnTable(side: number, layers: number): PressedPair {
  const [spacing, fall] = [0.011, 0.005];
  const grains = side * side * layers;
  const corners = [-1, -1, 1, -1, 1, 1, -1, 1].map((sign) => sign * side * spacing);
  const table = [0, 2, 4, 6].flatMap((c) => [corners[c], corners[c + 1], 0]);
  const start = new Float64Array(3 * grains + table.length);
  for (let i = 0; i < grains; i++) {
    const place = [i % side, Math.floor(i / side) % side, Math.floor(i / side ** 2) + 1];
    place.forEach((at, c) => {
      start[3 * i + c] = spacing * (at - (c < 2 ? (side - 1) / 2 : 0) + 0.09 * Math.sin(5 * i + 2 * c));
    });
  }
  start.set(table, 3 * grains);
  const mesh = {
    vertexCount: grains + 4,
    particles: Uint32Array.from({ length: grains }, (_, i) => i),
    triangles: Uint32Array.of(grains, grains + 1, grains + 2, grains, grains + 2, grains + 3),
    kinematic: new Uint8Array(grains + 4).fill(1, grains),
  };
  return { mesh, start, target: start.map((value, k) => (k < 3 * grains && k % 3 === 2 ? value - fall : value)) };
}

/** Frames of one session towards the same target. */
export async function offsetFrames(
  engine: Engine,
  { mesh: input, start, target }: PressedPair,
  asked: ParametersInput,
  frames: number,
): Promise<OffsetFrame[]> {
  const mesh = buildMesh(input);
  const measures = measureMesh(mesh, start);
  const { parameters } = resolveParameters({ quality: 'BALANCED', ...asked }, measures);
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  const floor = floorOf(parameters.activationDistance, frame, 'FLOAT64');
  const scene = await engine.open(mesh, parameters, { scale: frame.scale, floor });
  const { activationDistance: delta, contactOffset } = parameters;
  const y = frame.toEngine(target);
  let x = frame.toEngine(start);
  const told: OffsetFrame[] = [];
  for (let k = 0; k < frames; k++) {
    x = (await scene.resolve({ x, y })).positions;
    const positions = frame.toDouble(x);
    const { distances, vertices, weights } = findContacts(mesh, positions, RULES, 1.3 * contactOffset);
    const nearest = new Map<number, number>();
    for (let n = 0; n < vertices.length; n++) {
      const v = vertices[n];
      if (v === NO_VERTEX || mesh.kinematic[v] || weights[n] < LEAST_WEIGHT) continue;
      nearest.set(v, Math.min(nearest.get(v) ?? Infinity, distances[n >> 2] / delta));
    }
    const gaps = [...nearest.values()].sort((a, b) => a - b);
    let sum = 0;
    let count = 0;
    for (let c = 0; c < y.length; c++) {
      if (mesh.kinematic[Math.floor(c / 3)]) continue;
      sum += (x[c] - y[c]) ** 2;
      count++;
    }
    told.push({
      least: gaps[0],
      median: gaps[gaps.length >> 1],
      contacts: gaps.length,
      rms: Math.sqrt(sum / count) / frame.scale,
      intersections: findIntersections(mesh, positions, RULES).intersectionCount,
    });
  }
  scene.close();
  return told;
}
