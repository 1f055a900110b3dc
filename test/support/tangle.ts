import { buildMesh } from '../../src/mesh/build.js';
import { ExcludedPairs } from '../../src/mesh/excluded-pairs.js';
import { measureMesh } from '../../src/mesh/measure.js';
import type { Engine } from '../../src/solver/engine.js';
import { CoordinateFrame, floorOf } from '../../src/solver/frame.js';
import { resolveParameters } from '../../src/solver/parameters.js';
import { testPath } from '../../src/verify/path.js';
import { findIntersections } from '../../src/verify/state.js';
import type { Random } from './random.js';
import { SceneBuilder } from './scene-builder.js';

const RULES = { kinematicPairs: 'PROTECT', maxPairs: 10_000 } as const;

/** A level sheet that a crumpled one intersects, whose target is outside. */
function tangle(random: Random) {
  const scene = new SceneBuilder();
  const jitter = (size: number) => size * (random() - 0.5);
  scene.sheet(6, (u, v) => {
    const at = [u * 6, v * 6, jitter(0.2)] as const;
    return { at, to: at };
  });
  scene.sheet(5, (u, v) => {
    const at = [0.6 + u * 5 + jitter(0.4), 3 + jitter(0.6), v * 5 - 2 + jitter(0.4)] as const;
    return { at, to: [at[0] + jitter(1), at[1] + jitter(1), at[2] + 1.5 + jitter(1)] as const };
  });
  return scene.build();
}

export interface JudgedTangle {
  /** pairs that intersected at the start of each request, and were excluded in it */
  readonly excluded: readonly number[];
  /** other pairs that intersected, over all states of all requests */
  readonly intersections: number;
  /** other pairs that met, over all pieces of all paths */
  readonly collisions: number;
}

/** Separates the tangle, pushes it back and separates it again on one scene; what intersects is excluded each time. */
export async function judgeTangle(engine: Engine, random: Random, stepLimit = 60): Promise<JudgedTangle> {
  const { mesh: input, start, target } = tangle(random);
  const mesh = buildMesh(input);
  const measures = measureMesh(mesh, start);
  const { parameters } = resolveParameters({ stepLimit, kinematicPairs: 'PROTECT', quality: 'FAST' }, measures);
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  const floor = floorOf(parameters.activationDistance, frame, 'FLOAT64');
  const scene = await engine.open(mesh, parameters, { scale: frame.scale, floor });
  let x = frame.toEngine(start);
  const counts: number[] = [];
  let intersections = 0;
  let collisions = 0;
  for (const y of [frame.toEngine(target), x.slice(), frame.toEngine(target)]) {
    const found = findIntersections(mesh, x, RULES).intersections;
    counts.push(found.length);
    const excluded = found.length > 0 ? new ExcludedPairs(found) : undefined;
    const rules = { ...RULES, excluded };
    let previous = x.slice();
    const { positions } = await scene.resolve({
      x,
      y,
      ...(excluded ? { excluded } : {}),
      onState: (state) => {
        intersections += findIntersections(mesh, state, rules).intersectionCount;
        collisions += testPath(mesh, previous, state, rules).collisionCount;
        previous = state.slice();
      },
    });
    x = positions;
  }
  scene.close();
  return { excluded: counts, intersections, collisions };
}
