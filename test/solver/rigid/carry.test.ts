import t from 'tap';
import { movingGroups } from '../../../bench/prove/scenes/moving-groups.js';
import { Random } from '../../../bench/prove/scenes/random.js';
import { buildMesh } from '../../../src/mesh/build.js';
import { findBounds, measureMesh } from '../../../src/mesh/measure.js';
import { isInBox } from '../../../src/solver/cpu/boxes.js';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { Proximity } from '../../../src/solver/cpu/proximity.js';
import { CoordinateFrame } from '../../../src/solver/frame.js';
import { resolveParameters } from '../../../src/solver/parameters.js';
import { rangeOf } from '../../../src/solver/range.js';
import { carryBoxes } from '../../../src/solver/rigid/carry.js';
import { RigidMotion } from '../../../src/solver/rigid/move-rigidly.js';
import { NO_ROTATION, rotationOf, turn } from '../../../src/solver/rigid/rotation.js';
import { toSettings } from '../../../src/solver/settings.js';
import { testPath } from '../../../src/verify/path.js';
import { findIntersections } from '../../../src/verify/state.js';
import { seeded } from '../../support/random.js';
import { SceneBuilder } from '../../support/scene-builder.js';
import { allPairs, boundsApart, keysOf, leastDistance } from '../../support/trust-oracle.js';

const random = seeded();
t.comment(`TEST_SEED=${random.seed}`);

t.test('a carried box lies in the turned one and contains its vertex', async (t) => {
  for (let n = 0; n < 500; n++) {
    const spin = [0, 1, 2].map(() => random.between(-1, 1)) as [number, number, number];
    const rotation = rotationOf(spin);
    const x = Float32Array.from({ length: 3 }, () => random.between(-5, 5));
    const box = Float32Array.from([...x, ...x], (value, k) => value + (k < 3 ? -1 : 1) * random.between(0.01, 1));
    const old = box.slice();
    const off = 1e-5;
    const exact = turn(rotation, [x[0], x[1], x[2]]);
    const after = Float32Array.from(exact, (value) => value + 7 + random.between(-off, off) / 2);
    const motions = { pieces: 1, label: Uint8Array.of(1), rotations: [rotation] };
    t.ok(carryBoxes(box, x, after, motions, off));
    t.ok(isInBox(box, 0, after));
    // Each corner of the new box, seen from the group.
    const back = rotation.map((_, k) => rotation[3 * (k % 3) + Math.floor(k / 3)]) as unknown as typeof rotation;
    for (let corner = 0; corner < 8; corner++) {
      const at = [0, 1, 2].map((c) => box[c + 3 * ((corner >> c) & 1)] - 7) as [number, number, number];
      const seen = turn(back, at);
      if (!seen.every((value, c) => value >= old[c] && value <= old[3 + c])) t.fail(`corner ${corner} of case ${n}`);
    }
  }
});

t.test('a vertex outside its box cannot be carried', async (t) => {
  const motions = { pieces: 1, label: Uint8Array.of(0), rotations: [] };
  const box = Float32Array.from([0, 0, 0, 1, 1, 1]);
  t.notOk(carryBoxes(box, Float32Array.from([2, 0, 0]), Float32Array.from([2, 0, 0]), motions, 0));
});

t.test(
  'after groups were carried every pair outside P stays apart wherever its vertices are in their boxes',
  async (t) => {
    let carried = 0;
    let unlisted = 0;
    for (let n = 0; n < 10; n++) {
      const scene = movingGroups(new Random(random.int(2 ** 32)));
      const mesh = buildMesh(scene.mesh);
      const measures = measureMesh(mesh, scene.start);
      const { parameters } = resolveParameters({}, measures);
      const frame = CoordinateFrame.fit(scene.start, measures.medianEdge, measures.bounds);
      const bounds = findBounds(mesh, scene.target);
      const { floor } = rangeOf(parameters.activationDistance, frame, measures.bounds, bounds, 'FLOAT64');
      const settings = toSettings(parameters, { scale: frame.scale, floor });
      const [x, target] = [frame.toEngine(scene.start), frame.toEngine(scene.target)];
      const proximity = new Proximity(mesh, settings);
      proximity.acquire();
      proximity.renew(
        x,
        x.map((value) => value + 1e-3),
      );
      const before = x.slice();
      const motions = new RigidMotion(mesh).move(settings, {
        ...{ x, target, mayContinue: () => true, pulse: () => undefined, onPiece: () => undefined },
      });
      if (!motions) continue;
      proximity.carry(before, x, motions);
      t.ok(proximity.isValid);
      carried++;
      const listed = new Set(keysOf(proximity.pairs));
      const isInner = (side: readonly number[]) => side.every((v) => mesh.kinematic[v] !== 0);
      const { box } = proximity.boxes;
      for (const pair of allPairs(mesh)) {
        if (listed.has(pair.key) || (isInner(pair.a) && isInner(pair.b)) || boundsApart(box, pair) > floor) continue;
        // The oracle takes milliseconds a pair.
        if (unlisted++ % 8 !== 0) continue;
        const least = leastDistance(box, pair);
        if (!(least > floor)) t.fail(`${pair.key}: ${least}`);
      }
    }
    t.ok(carried > 0, `${carried} carried, ${unlisted} close unlisted pairs`);
  },
);

t.test('boxes shrink by the floor under which the groups were placed, whatever P was searched with', (t) => {
  const mesh = buildMesh({ vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) });
  const x = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);
  const measures = measureMesh(mesh, x);
  const { parameters } = resolveParameters({}, measures);
  const settingsOf = (floor: number) => toSettings(parameters, { scale: 1, floor });
  const radiusAfter = (searched: number, placed: number): number => {
    const proximity = new Proximity(mesh, settingsOf(searched));
    proximity.acquire();
    proximity.renew(x, x);
    proximity.configure(settingsOf(placed));
    const motions = { pieces: 1, label: new Uint8Array(3).fill(1), rotations: [NO_ROTATION] };
    proximity.carry(x, x, motions);
    t.ok(proximity.isValid);
    const { box } = proximity.boxes;
    return box[3] - x[0];
  };
  // From the smallest floor of a δ to the largest that is not refused, engine units.
  const { activationDistance: delta } = parameters;
  for (const [fine, coarse] of [
    [delta / 100, delta / 50],
    [delta / 100, delta / 16],
  ]) {
    t.equal(radiusAfter(fine, coarse), radiusAfter(coarse, coarse));
    t.equal(radiusAfter(coarse, fine), radiusAfter(fine, fine));
    t.ok(radiusAfter(fine, coarse) < radiusAfter(fine, fine));
  }
  t.end();
});

t.test('sessions whose groups move frame by frame are free on every piece, and keep P', async (t) => {
  const rules = { kinematicPairs: 'SKIP', maxPairs: 1 } as const;
  let reused = 0;
  let pieces = 0;
  for (let n = 0; n < 5; n++) {
    const scene = movingGroups(new Random(random.int(2 ** 32)));
    const mesh = buildMesh(scene.mesh);
    const measures = measureMesh(mesh, scene.start);
    const { parameters } = resolveParameters({ stepLimit: 12 }, measures);
    const frame = CoordinateFrame.fit(scene.start, measures.medianEdge, measures.bounds);
    const bounds = findBounds(mesh, scene.target);
    const { floor } = rangeOf(parameters.activationDistance, frame, measures.bounds, bounds, 'FLOAT64');
    const engine = createCpuEngine();
    const session = await engine.open(mesh, parameters, { scale: frame.scale, floor });
    let x = frame.toEngine(scene.start);
    const target = frame.toEngine(scene.target);
    for (let k = 1; k <= 4; k++) {
      const y = x.map((value, i) => value + (target[i] - value) / (5 - k));
      let previous = x.slice();
      const resolution = await session.resolve({
        ...{ x, y },
        onState: (state) => {
          pieces++;
          const { collisionCount } = testPath(mesh, previous, state.slice(), rules);
          const { intersectionCount } = findIntersections(mesh, state, rules);
          if (collisionCount + intersectionCount > 0) t.fail(`session ${n}, frame ${k}`);
          previous = state.slice();
        },
      });
      if (resolution.proximitySetReused) reused++;
      x = resolution.positions.slice();
    }
    session.close();
  }
  t.ok(pieces > 20, `${pieces} pieces, P kept for ${reused} frames`);
});

t.test(
  'a cloth that stays in its boxes does not pass through a body that a group motion brings into its way',
  async (t) => {
    const rules = { kinematicPairs: 'SKIP', maxPairs: 1 } as const;
    const scene = new SceneBuilder();
    scene.sheet(6, (u, v) => ({ at: [6 * u, 6 * v, 0], to: [6 * u, 6 * v, 0.5] }));
    const mover = scene.vertex([30, 3, 0.25]);
    scene.triangle(mover, scene.vertex([31, 3, 0.25]), scene.vertex([30, 4, 0.27]));
    const rod = scene.vertex([50, 50, 0]);
    const flier = scene.vertex([50, 51, 0]);
    scene.segment(rod, flier);
    const mesh = buildMesh(scene.build().mesh);
    const start = Float32Array.from(scene.start);
    const raised = Float32Array.from(scene.target);
    // The cloth wants to go back, and the triangle between its two places. The boxes of the cloth, which are those of
    // the first frame, serve it; one end of the rod flies, so the boxes are not carried.
    const crossing = start.slice();
    for (let v = mover; v < rod; v++) crossing[3 * v] -= 27.5;
    crossing[3 * flier + 1] += 150;
    for (const quality of ['FAST', 'BALANCED', 'FINE'] as const) {
      const { parameters } = resolveParameters({ quality }, measureMesh(mesh, start));
      const floor = Math.fround(parameters.activationDistance / 100);
      const session = await createCpuEngine().open(mesh, parameters, { scale: 1, floor });
      let x = start;
      const phases: unknown[] = [];
      for (const y of [raised, crossing]) {
        phases.length = 0;
        let previous = x.slice();
        const { positions } = await session.resolve({
          ...{ x, y },
          onState: (state, from) => {
            phases.push(from?.phase);
            t.equal(testPath(mesh, previous, state, rules).collisionCount, 0, `${quality}: ${from?.phase}`);
            previous = state.slice();
          },
        });
        x = positions.slice();
      }
      session.close();
      t.match(phases, ['RIGID', 'FLIGHT'], `${quality}: the triangle moves as a group, the end of the rod flies`);
      t.ok(phases.length > 2, `${quality}: the cloth moves`);
    }
  },
);
