import t from 'tap';
import { readSurface } from '../../../bench/prove/judge/surface.js';
import { GENERATED } from '../../../bench/prove/scenes/generated.js';
import { Random } from '../../../bench/prove/scenes/random.js';
import { drawMove, holdPins, pinSome, withParts } from '../../../bench/prove/session-plan.js';

t.test('a long session makes every move, after a plain beginning', async (t) => {
  const random = new Random(3);
  const moves = Array.from({ length: 300 }, (_, k) => drawMove(k + 1, random));
  t.same(moves.slice(0, 3), ['DRIFT', 'DRIFT', 'DRIFT']);
  t.same([...new Set(moves)].sort(), ['AGAIN', 'BACK', 'DRIFT', 'DRIFT_FAST', 'PARTS', 'PIN', 'REST', 'STAY']);
});

t.test('parts cover the vertices in order', async (t) => {
  const { mesh } = GENERATED.soup(new Random(1));
  const { parts = [] } = withParts(mesh);
  t.equal(parts.length, 3);
  let next = 0;
  for (const { firstVertex, vertexCount } of parts) {
    t.equal(firstVertex, next);
    next += vertexCount;
  }
  t.equal(next, mesh.vertexCount);
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
