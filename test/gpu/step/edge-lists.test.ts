import t from 'tap';
import { edgesByVertex } from '../../../gpu/step/edge-list-buffers.js';
import { canListEdges, planEdges } from '../../../gpu/step/edge-plan.js';
import { buildMesh } from '../../../src/mesh/build.js';
import { seeded } from '../../support/random.js';

t.test('edgesByVertex lists every edge once at each of its ends', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const vertexCount = 50;
  const ends = Uint32Array.from({ length: 2 * 120 }, () => Math.floor(vertexCount * random()));
  const words = edgesByVertex(vertexCount, ends);
  t.equal(words.length, vertexCount + 1 + ends.length);
  t.equal(words[vertexCount], ends.length);
  for (let v = 0; v < vertexCount; v++) {
    const own = words.slice(vertexCount + 1 + words[v]!, vertexCount + 1 + words[v + 1]!);
    const expected = Array.from(ends.keys()).filter((k) => ends[k] === v);
    t.strictSame(
      Array.from(own),
      expected.map((k) => k >> 1),
    );
  }
});

t.test('a mesh without constrained edges has empty lists', async (t) => {
  const mesh = buildMesh({ vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) });
  t.ok(canListEdges(planEdges(mesh, true)));
  t.notOk(canListEdges(planEdges(mesh, false)));
});
