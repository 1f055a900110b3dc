import t from 'tap';
import { drawMove, holdPins, pinSome } from '../../../../bench/prove/cases/session-plan.js';
import { readSurface } from '../../../../bench/prove/judge/surface.js';
import { GENERATED } from '../../../../bench/prove/scenes/generated.js';
import { Random } from '../../../../bench/prove/scenes/random.js';
import { type Variation, withParts } from '../../../../bench/prove/scenes/variation.js';

t.test('a long session makes every move, after some plain frames', async (t) => {
  const random = new Random(3);
  const moves = Array.from({ length: 600 }, (_, k) => drawMove(k + 1, random));
  t.same(moves.slice(0, 3), ['DRIFT', 'DRIFT', 'DRIFT']);
  const usual = ['AGAIN', 'BACK', 'DRIFT', 'DRIFT_FAST', 'HANG_UP', 'NARROW', 'PARTS', 'PIN', 'REFUSED', 'RENEW'];
  t.same([...new Set(moves)].sort(), [...usual, 'REST', 'STAY']);
  const rough = new Set(Array.from({ length: 300 }, (_, k) => drawMove(k + 4, random, true)));
  for (const move of ['HANG_UP', 'REFUSED', 'RENEW', 'AGAIN', 'WAIT'] as const) t.ok(rough.has(move), move);
});

const variation: Variation = {
  scale: 10,
  offset: 0,
  scalar: 'FLOAT64',
  preset: 'PAPER',
  extreme: 'NONE',
  corner: 'DEFAULT',
};

t.test('parts cover the vertices in order, with distances of their own where the variation has them', async (t) => {
  const { mesh } = GENERATED.soup(new Random(1));
  const { parts = [] } = withParts(mesh, variation, new Random(1));
  t.equal(parts.length, 3);
  let next = 0;
  for (const { firstVertex, vertexCount, activationDistance } of parts) {
    t.equal(firstVertex, next);
    t.equal(activationDistance, undefined);
    next += vertexCount;
  }
  t.equal(next, mesh.vertexCount);
  const own = withParts(mesh, { ...variation, hasPartDistances: true }, new Random(1)).parts ?? [];
  t.match(own, [{ activationDistance: Number }, { activationDistance: undefined }, { activationDistance: Number }]);
  for (const { activationDistance = 0 } of own) t.ok(activationDistance <= 0.02, 'two of the default, in this unit');
});

t.test('pins add no element that is kinematic as a whole, and stay where they are', async (t) => {
  for (const [name, make] of Object.entries(GENERATED)) {
    for (const seed of [1, 2, 3]) {
      const { mesh, start, target } = make(new Random(seed));
      const surface = readSurface(mesh);
      const flags = pinSome(surface, new Random(seed));
      const isWhole = (element: readonly number[], of: Uint8Array) => element.every((v) => of[v] === 1);
      for (const element of [...surface.edges, ...surface.triangles, ...surface.particles]) {
        if (isWhole(element, flags)) t.ok(isWhole(element, surface.kinematic), `${name}, ${element.join(' ')}`);
      }
      const held = holdPins(target, start, flags, surface.kinematic);
      for (let v = 0; v < flags.length; v++) {
        const from = flags[v] && !surface.kinematic[v] ? start : target;
        if (held[3 * v] !== from[3 * v]) t.fail(`${name}, vertex ${v}`);
      }
    }
  }
});
