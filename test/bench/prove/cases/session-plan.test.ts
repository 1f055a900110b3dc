import t from 'tap';
import { changePlaces, drawMove, holdPins, pinSome } from '../../../../bench/prove/cases/session-plan.js';
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

t.test('where bodies change their places, each is whole in one of its two places, and all combinations occur', (t) => {
  const { start, target, ways, mesh } = GENERATED.changingPlaces(new Random(1));
  if (!ways) throw new Error('The scene has no ways.');
  const count = Math.max(...ways) + 1;
  t.equal(ways.length, mesh.vertexCount);
  t.same([...new Set(ways)], [...Array(count).keys()]);
  const { triangles = [], segments = [] } = mesh;
  for (const [ids, size] of [
    [triangles, 3],
    [segments, 2],
  ] as const) {
    for (let k = 0; k < ids.length; k++)
      t.equal(ways[ids[k]], ways[ids[k - (k % size)]], 'elements belong to one body');
  }
  const random = new Random(2);
  const seen = new Set<string>();
  for (let n = 0; n < 40 * 2 ** count; n++) {
    const y = changePlaces(start, target, ways, random);
    const places = Array.from({ length: count }, () => new Set(['start', 'target']));
    for (const [i, p] of y.entries()) {
      const own = places[ways[Math.floor(i / 3)]];
      if (p !== start[i]) own.delete('start');
      if (p !== target[i]) own.delete('target');
    }
    if (places.some(({ size }) => size !== 1)) t.fail('a body is in no place');
    seen.add(places.map((own) => [...own]).join());
  }
  t.equal(seen.size, 2 ** count);
  t.end();
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
