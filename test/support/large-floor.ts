import type { Positions } from '../../src/contract/mesh.js';
import type { ResolveAnswer, ResolveRequest } from '../../src/contract/requests.js';
import { buildMesh } from '../../src/mesh/build.js';
import type { Engine } from '../../src/solver/engine.js';
import { testPath } from '../../src/verify/path.js';
import { findIntersections } from '../../src/verify/state.js';
import { LIMITS, runJob } from './job.js';
import type { Random } from './random.js';
import { type Point, SceneBuilder } from './scene-builder.js';

/** A ground plane of two triangles, and what falls onto it. Lengths in metres, unless `unit` says otherwise. */
export interface FloorScene {
  /** half of the side of the plane */
  readonly half: number;
  /** radians: slope of the plane, and its direction */
  readonly tilt: number;
  readonly yaw: number;
  readonly offset: Point;
  /** a sheet of 12 × 12 quads, or a box of twelve triangles */
  readonly falling: 'CLOTH' | 'BOX';
  /** of the sheet, or of the box */
  readonly edge: number;
  /** of the lowest vertex above the plane */
  readonly height: number;
  /** by how much targets lie lower */
  readonly drop: number;
  /** caller's units per metre */
  readonly unit: number;
}

export const SCENE: FloorScene = {
  half: 500,
  tilt: 0,
  yaw: 0,
  offset: [0, 0, 0],
  falling: 'CLOTH',
  edge: 0.017,
  height: 0.01,
  drop: 0.05,
  unit: 1,
};

/** @returns start and target in double; the plane's vertices are the first four */
export function floorScene(
  given: Partial<FloorScene>,
): Pick<ResolveRequest, 'mesh'> & Record<'start' | 'target', Float64Array> {
  const { half, tilt, yaw, offset, falling, edge, height, drop, unit } = { ...SCENE, ...given };
  const scene = new SceneBuilder();
  const place = ([u, v, w]: Point): Point => {
    const [y, z] = [v * Math.cos(tilt) - w * Math.sin(tilt), v * Math.sin(tilt) + w * Math.cos(tilt)];
    const turned = [u * Math.cos(yaw) - y * Math.sin(yaw), u * Math.sin(yaw) + y * Math.cos(yaw), z];
    return [unit * (turned[0]! + offset[0]), unit * (turned[1]! + offset[1]), unit * (turned[2]! + offset[2])];
  };
  const corner = (u: number, v: number): number => scene.vertex(place([u, v, 0]), undefined, true);
  const [a, b, c, d] = [corner(-half, -half), corner(half, -half), corner(half, half), corner(-half, half)];
  scene.triangle(a, b, c);
  scene.triangle(a, c, d);
  const fall = ([u, v, w]: Point) => ({ at: place([u, v, w]), to: place([u, v, w - drop]) });
  if (falling === 'CLOTH') {
    const side = 12 * edge;
    scene.sheet(12, (u, v) =>
      fall([side * (u - 0.48), side * (v - 0.53), height + 0.3 * edge * (1 + Math.sin(9 * u) * Math.cos(7 * v))]),
    );
  } else {
    const ids = Array.from({ length: 8 }, (_, k) => {
      const { at, to } = fall([edge * ((k & 1) - 0.5), edge * (((k >> 1) & 1) - 0.5), height + edge * (k >> 2)]);
      return scene.vertex(at, to);
    });
    for (const face of BOX_FACES) scene.triangle(ids[face[0]]!, ids[face[1]]!, ids[face[2]]!);
  }
  const { mesh, start, target } = scene.build();
  return { mesh, start, target };
}

const BOX_FACES = [
  [0, 2, 1],
  [1, 2, 3],
  [4, 5, 6],
  [5, 7, 6],
  [0, 1, 4],
  [1, 5, 4],
  [2, 6, 3],
  [3, 6, 7],
  [0, 4, 2],
  [2, 4, 6],
  [1, 3, 5],
  [3, 7, 5],
] as const;

export function randomFloorScene(random: Random): Partial<FloorScene> & { readonly isDouble: boolean } {
  const falling = random() < 0.6 ? 'CLOTH' : 'BOX';
  const isDouble = random() < 0.6;
  // Where float32 ends: the numbers of the caller themselves are too coarse for what lies far from the origin.
  const away = isDouble && random() < 0.6 ? 10 ** random.between(2, 6) : random.between(0, 3);
  return {
    half: 10 ** random.between(0, 2.699),
    tilt: random() < 0.3 ? 0 : random.between(0, 1.5),
    yaw: random() < 0.3 ? 0 : random.between(0, 6),
    offset: [away * random.between(-1, 1), away * random.between(-1, 1), away * random.between(-1, 1)],
    falling,
    edge: falling === 'CLOTH' ? 0.017 : 0.1,
    height: random() < 0.5 ? random.between(0.002, 0.02) : random.between(0.0005, 0.002),
    drop: random.between(0, 0.08),
    unit: [1, 100, 1000, 0.001, 39.37][random.int(5)]!,
    isDouble,
  };
}

/** Warnings that a caller has to do something about; edges over σ are what quality FAST leaves where cloth is pressed. */
export function wordsOf({ warnings }: Pick<ResolveAnswer['report'], 'warnings'>): readonly string[] {
  return warnings.map(({ code }) => code).filter((code) => code !== 'OVERLONG_EDGES');
}

export interface JudgedFloor {
  readonly answer: ResolveAnswer;
  /** what is wrong with the answer or its path; empty = nothing */
  readonly faults: readonly string[];
}

/** Resolves a scene with the verifier of the service off, and judges every state and piece in the numbers that are sent. */
export async function judgeFloor(
  engine: Engine,
  { mesh: input, start, target }: Pick<ResolveRequest, 'mesh'> & Record<'start' | 'target', Positions>,
  parameters: ResolveRequest['parameters'] = {},
): Promise<JudgedFloor> {
  const mesh = buildMesh(input);
  const rules = { kinematicPairs: 'SKIP', maxPairs: 1 } as const;
  const faults: string[] = [];
  const states: Positions[] = [];
  const { answer, findings } = await runJob(
    { mesh: input, start, target, parameters: { ...parameters, verify: 'NONE' } },
    engine,
    {
      allowUnverified: true,
      limits: LIMITS,
      onState: (state, at) => {
        states.length = at;
        states.push(state);
      },
    },
  );
  if (findings.length > 0) faults.push(`${findings.length} findings`);
  states.forEach((state, k) => {
    const { intersectionCount } = findIntersections(mesh, state, rules);
    if (intersectionCount > 0) faults.push(`state ${k}: ${intersectionCount} intersections`);
    const { collisionCount } = k === 0 ? { collisionCount: 0 } : testPath(mesh, states[k - 1]!, state, rules);
    if (collisionCount > 0) faults.push(`piece ${k}: ${collisionCount} collisions`);
  });
  const { positions } = answer;
  if (!states.at(-1)!.every((c, k) => Object.is(c, positions[k]))) faults.push('the path does not end at the answer');
  for (let k = 0; k < 12; k++)
    if (!Object.is(positions[k], start[k])) faults.push(`coordinate ${k} of the plane moved`);
  return { answer, faults };
}
