import fc from 'fast-check';
import t from 'tap';
import { buildMesh } from '../../src/mesh/build.js';
import { PairSet } from '../../src/solver/cpu/pair-set.js';
import { ProximitySearch } from '../../src/solver/cpu/search.js';
import { allPairs, boundsApart, keysOf, leastDistance } from '../support/trust-oracle.js';
import { points, settingsOf } from './arbitraries.js';

/** Elements of all kinds over a few vertices, so that they share some and lie in each other's way. */
const VERTICES = 14;
const vertexList = (size: number) =>
  fc.uniqueArray(fc.integer({ min: 0, max: VERTICES - 1 }), { minLength: size, maxLength: size });
const keyOf = (list: readonly number[]) => [...list].sort((a, b) => a - b).join();
const meshes = fc
  .record({
    triangles: fc.uniqueArray(vertexList(3), { maxLength: 7, selector: keyOf }),
    segments: fc.uniqueArray(vertexList(2), { minLength: 1, maxLength: 5, selector: keyOf }),
    particles: fc.uniqueArray(fc.integer({ min: 0, max: VERTICES - 1 }), { maxLength: 4 }),
  })
  .map(({ triangles, segments, particles }) =>
    buildMesh({
      vertexCount: VERTICES,
      triangles: Uint32Array.from(triangles.flat()),
      segments: Uint32Array.from(segments.flat()),
      particles: Uint32Array.from(particles),
    }),
  );

/** Rounding of float32 faces about 1 from the origin. */
const ROUNDING = 2e-6;

t.test('the search finds every pair that brute force finds under δ, each once, and none that is no pair', async (t) => {
  const settings = settingsOf(t, 150);
  let found = 0;
  fc.assert(
    fc.property(meshes, points(VERTICES), fc.constantFrom(0.02, 0.2), (mesh, x, delta) => {
      const box = new Float32Array(6 * VERTICES);
      for (let v = 0; v < VERTICES; v++) {
        for (let c = 0; c < 3; c++) {
          box[6 * v + c] = x[3 * v + c] - delta;
          box[6 * v + 3 + c] = x[3 * v + c] + delta;
        }
      }
      const pairs = new PairSet();
      const rules = { mask: new Uint8Array(VERTICES), isIgnored: undefined };
      new ProximitySearch(mesh).search({ box, growth: delta / 2 }, x, delta, rules, 1e9, pairs);
      const keys = keysOf(pairs);
      const inP = new Set(keys);
      found += keys.length;
      if (inP.size !== keys.length) return false;
      const known = new Set<string>();
      for (const pair of allPairs(mesh)) {
        known.add(pair.key);
        if (inP.has(pair.key)) continue;
        if (boundsApart(box, pair) < delta && leastDistance(box, pair) < delta - ROUNDING) return false;
      }
      return keys.every((key) => known.has(key));
    }),
    settings,
  );
  t.ok(found > 1000, `${found} pairs`);
});
