import t from 'tap';
import { movingGroups } from '../../../bench/prove/scenes/moving-groups.js';
import { Random } from '../../../bench/prove/scenes/random.js';
import { requestOf } from '../../../examples/resolve-scene.js';
import { makeLayers } from '../../../examples/scenes/layers.js';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import { buildMesh } from '../../../src/mesh/build.js';
import { findBounds, measureMesh } from '../../../src/mesh/measure.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { CoordinateFrame } from '../../../src/solver/frame.js';
import { resolveParameters } from '../../../src/solver/parameters.js';
import { rangeOf } from '../../../src/solver/range.js';
import { RigidMotion } from '../../../src/solver/rigid/move-rigidly.js';
import { MovingElements } from '../../../src/solver/rigid/moving-elements.js';
import { toSettings } from '../../../src/solver/settings.js';
import { findDistances } from '../../../src/verify/distance.js';
import { testPath } from '../../../src/verify/path.js';
import { findIntersections } from '../../../src/verify/state.js';
import { seeded } from '../../support/random.js';
import { flatSheet } from '../../support/sheet.js';

const RULES = { kinematicPairs: 'SKIP', maxPairs: 4 } as const;

/** The frame of a float32 start, and the settings of a request under it. */
function settingsFor(mesh: CollisionMesh, start: Float32Array, target: Float32Array, overrides: ParametersInput) {
  const measures = measureMesh(mesh, start);
  const { parameters } = resolveParameters({ quality: 'FAST', ...overrides }, measures);
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  const { activationDistance } = parameters;
  const { floor } = rangeOf(activationDistance, frame, measures.bounds, findBounds(mesh, target), 'FLOAT32');
  return { frame, settings: toSettings(parameters, { scale: frame.scale, floor }) };
}

const CASES = Number(process.env.TEST_CASES ?? 60);
/** A group that is turned aside took pinned vertices with it; parallel edges, 5e-5 of their length apart, turn. */
const FOUND = [1292378962, 575138346];

interface Judged {
  readonly pieces: number;
  readonly intersections: number;
  readonly collisions: number;
  /** the least distance of all states over what the start allows: min(its least distance, floor/2) */
  readonly kept: number;
  /** kinematic vertices that are further from their targets than at the start, beyond half a leap */
  readonly carriedOff: number;
}

/** Moves one scene rigidly and judges every piece with the verifier, which shares nothing with it but the mesh. */
function moveJudged(seed: number): Judged | undefined {
  const random = new Random(seed);
  const scene = movingGroups(random);
  // Of a generator of its own, so that the other draws of a seed stay what they were.
  const quality = new Random(seed + 1).pick(['FAST', 'BALANCED'] as const);
  // Edges are about 0.01 long and δ a tenth of that: float32 bodies reach targets so far away only with a higher floor.
  const far = new Random(seed + 7).pick([0, 0, 0, 20, 35]);
  const isSingle = random.next() < 0.5;
  const offset = random.pick([0, 0, 1, 30]);
  const kinematicPairs = random.pick(['SKIP', 'SKIP', 'PROTECT'] as const);
  const overrides: ParametersInput = {
    kinematicPairs,
    ...random.pick([{}, {}, { activationDistance: 1e-4, leap: 0.004 }]),
  };
  const numbers = (positions: Float64Array) =>
    isSingle ? Float32Array.from(positions, (p) => p + offset) : positions.map((p) => p + offset);
  const [start, target] = [numbers(scene.start), numbers(scene.target.map((p, k) => (k % 3 === 0 ? p + far : p)))];
  const mesh = buildMesh(scene.mesh);
  const rules = { kinematicPairs, maxPairs: 4 } as const;
  const measures = measureMesh(mesh, start);
  const { parameters } = resolveParameters({ quality, ...overrides }, measures);
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  let floor: number;
  try {
    const scalar = isSingle ? 'FLOAT32' : 'FLOAT64';
    floor = rangeOf(parameters.activationDistance, frame, measures.bounds, findBounds(mesh, target), scalar).floor;
  } catch {
    return undefined;
  }
  const settings = toSettings(parameters, { scale: frame.scale, floor });
  const x = frame.toEngine(start);
  const y = frame.toEngine(target);
  // Where the floor is as coarse as the gaps, the engine's numbers may intersect already: such a start is refused.
  if (findIntersections(mesh, x, rules).intersectionCount > 0) return undefined;
  if (findIntersections(mesh, start, rules).intersectionCount > 0) return undefined;
  const leastOf = (state: Float32Array): number =>
    findDistances(mesh, state, { kinematicPairs, maxPairs: 1 }, floor).minDistance ?? floor;
  const least = Math.min(leastOf(x), floor / 2);
  let previous = x.slice();
  const judged = { pieces: 0, intersections: 0, collisions: 0, kept: Number.POSITIVE_INFINITY, carriedOff: 0 };
  const begun = x.slice();
  const onPiece = (state: Float32Array): void => {
    judged.pieces++;
    judged.intersections += findIntersections(mesh, state, rules).intersectionCount;
    judged.collisions += testPath(mesh, previous, state, rules).collisionCount;
    judged.kept = Math.min(judged.kept, leastOf(state) / least);
    previous = state.slice();
  };
  const motions = new RigidMotion(mesh).move(settings, {
    ...{ x, target: y, onPiece, mayContinue: () => true, pulse: () => undefined },
  });
  for (let v = 0; v < mesh.vertexCount; v++) {
    const left = Math.hypot(...[0, 1, 2].map((c) => x[3 * v + c] - y[3 * v + c]));
    const before = Math.hypot(...[0, 1, 2].map((c) => begun[3 * v + c] - y[3 * v + c]));
    if (mesh.kinematic[v] && left > before + settings.leap) judged.carriedOff++;
    if (motions && motions.label[v] === 0 && [0, 1, 2].some((c) => begun[3 * v + c] !== x[3 * v + c])) {
      judged.carriedOff++;
    }
  }
  return judged;
}

t.test('no piece of moving groups meets anything or reduces a gap below its minimum', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}, ${CASES} cases`);
  let pieces = 0;
  const seeds = [...FOUND, ...Array.from({ length: CASES }, () => random.int(2 ** 32))];
  for (const seed of seeds) {
    const judged = moveJudged(seed);
    if (!judged) continue;
    pieces += judged.pieces;
    const { intersections, collisions, kept, carriedOff } = judged;
    if (intersections + collisions + carriedOff > 0 || !(kept >= 1 - 1e-6))
      t.fail(`case ${seed}: ${JSON.stringify(judged)}`);
  }
  t.ok(pieces > CASES / 4, `${pieces} pieces`);
});

t.test('a sheet moves away from the origin in one piece, where rounding already decides its floor', async (t) => {
  const { vertexCount, triangles, rest } = flatSheet(20, 20);
  const mesh = buildMesh({ vertexCount, triangles });
  // 3,000 edges away from the origin, 300 edges farther in this request.
  const start = Float32Array.from(rest, (p, k) => (k % 3 === 2 ? 3000 : p));
  const target = Float32Array.from(start, (p, k) => (k % 3 === 2 ? p + 300 : p));
  const measures = measureMesh(mesh, start);
  const { parameters } = resolveParameters({ quality: 'FAST' }, measures);
  // Sheets that stand on both sides of the origin keep it there, as in a scene with a floor.
  const bounds = [-3000, -3000, -3000, 3000, 3000, 3000] as const;
  const frame = CoordinateFrame.fit(start, measures.medianEdge, bounds);
  const { floor } = rangeOf(parameters.activationDistance, frame, bounds, findBounds(mesh, target), 'FLOAT32');
  t.ok(floor > (parameters.activationDistance / 100) * frame.scale * 1.5, 'rounding decides the floor');
  const x = frame.toEngine(start);
  const y = frame.toEngine(target);
  let pieces = 0;
  const motions = new RigidMotion(mesh).move(toSettings(parameters, { scale: frame.scale, floor }), {
    ...{ x, target: y, onPiece: () => void pieces++, mayContinue: () => true, pulse: () => undefined },
  });
  t.equal(motions?.pieces, 1);
  t.equal(pieces, 1);
  t.same(x, y, 'and arrives');
});

/** Float32 points above a tilted ground, by less than `most`: a plane along the direction of its nearest point certifies nothing. */
function pointsOn(ground: readonly (readonly number[])[], most: number, wanted: number): number[] {
  const [a, b, c] = ground;
  const [u, v] = [b, c].map((end) => end.map((p, k) => p - a[k]));
  const cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
  const normal = cross.map((p) => p / Math.hypot(...cross));
  const heightOf = (p: readonly number[]) => normal.reduce((sum, n, k) => sum + n * (p[k] - a[k]), 0);
  const random = seeded(1);
  const points: number[] = [];
  while (points.length < 3 * wanted) {
    const [s, r] = [random.between(0.2, 0.4), random.between(0.2, 0.4)];
    const within = a.map((p, k) => p + s * u[k] + r * v[k]);
    const height = heightOf(within);
    const point = within.map((p, k) => Math.fround(p - height * normal[k]));
    if (heightOf(point) > 1e-12 && heightOf(point) < most) points.push(...point);
  }
  return points;
}

t.test(
  'a group meets nothing although hundreds of pairs of another group that cannot move fail their test',
  async (t) => {
    const grains = 400;
    const ground = [
      [-46, -46, 4],
      [37, -2, 47],
      [-2, 37, -50],
    ];
    const resting = pointsOn(ground, 1e-9, grains);
    const wall = [99, 100, 100, 101, 100, 100, 100, 100, 120];
    const flier = [100, 99, 60, 100, 101, 60, 100, 100, 59];
    const start = Float32Array.from([...ground.flat(), ...resting, ...wall, ...flier]);
    const target = start.map((p, k) => {
      if (k >= start.length - 9) return k % 3 === 2 ? p + 400 : p;
      return k >= 9 && k < 9 + 3 * grains && k % 3 === 0 ? p + 5 : p;
    });
    const first = 3 + grains;
    const mesh = buildMesh({
      vertexCount: start.length / 3,
      triangles: Uint32Array.of(0, 1, 2, first, first + 1, first + 2, first + 3, first + 4, first + 5),
      particles: Uint32Array.from({ length: grains }, (_, n) => 3 + n),
    });
    t.equal(findIntersections(mesh, start, RULES).intersectionCount, 0);
    const { frame, settings } = settingsFor(mesh, start, target, { leap: 1, activationDistance: 0.05 });
    const x = frame.toEngine(start);
    let previous = x.slice();
    let collisions = 0;
    const onPiece = (state: Float32Array): void => {
      collisions += testPath(mesh, previous, state, RULES).collisionCount;
      previous = state.slice();
    };
    new RigidMotion(mesh).move(settings, {
      ...{ x, target: frame.toEngine(target), onPiece, mayContinue: () => true, pulse: () => undefined },
    });
    t.equal(collisions, 0);
  },
);

t.test('two cloths that exchange places are left to the steps after the first test', async (t) => {
  const { mesh: input, start, target, parameters: overrides } = requestOf(makeLayers(200));
  const mesh = buildMesh(input);
  const measures = measureMesh(mesh, start);
  const { parameters } = resolveParameters({ quality: 'FAST', ...overrides }, measures);
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  /** @returns walks over pairs of different groups, and of one group */
  const attempt = (leap: number) => {
    const settings = toSettings({ ...parameters, leap }, { scale: frame.scale, floor: 1e-6 * frame.scale });
    const walks = t.capture(MovingElements.prototype, 'forEachMeeting', MovingElements.prototype.forEachMeeting);
    const near = t.capture(MovingElements.prototype, 'forEachNear', MovingElements.prototype.forEachNear);
    const x = frame.toEngine(start);
    const motions = new RigidMotion(mesh).move(settings, {
      ...{
        x,
        target: frame.toEngine(target),
        onPiece: () => undefined,
        mayContinue: () => true,
        pulse: () => undefined,
      },
    });
    t.equal(motions, undefined);
    t.same(x, frame.toEngine(start));
    return { walks: walks().length, near: near().length };
  };
  t.same(attempt(0.02), { walks: 1, near: 0 }, 'their way is one and a half leaps');
  t.ok(attempt(0.005).walks > 1, 'a way of six leaps is worth an attempt to slide past');
});
