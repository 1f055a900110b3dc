import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { EE, VT } from '../../../src/solver/pair-kinds.js';
import { GuardedElements } from '../../../src/solver/rigid/guarded-elements.js';

const guardsNothing = (mesh: CollisionMesh, kind: number, v: readonly number[]) =>
  new GuardedElements(mesh).guardNothing(kind, v);

t.test('a pair guards nothing if everything that it guards shares a vertex with it', async (t) => {
  // A strip of three triangles; 0 and 4 are its ends.
  const triangles = [0, 1, 2, 1, 3, 2, 2, 3, 4];
  const of = (input: object) => buildMesh({ vertexCount: 7, triangles: Uint32Array.from(triangles), ...input });
  const mesh = of({});
  t.ok(guardsNothing(mesh, VT, [0, 1, 3, 2]), 'a corner of the strip and the next triangle');
  t.notOk(guardsNothing(mesh, VT, [0, 2, 3, 4]), 'the edge 0-1 and that triangle share no vertex');
  t.ok(guardsNothing(of({ triangles: Uint32Array.from(triangles.slice(0, 6)) }), EE, [0, 1, 2, 3]));
  t.notOk(guardsNothing(mesh, EE, [0, 1, 2, 3]), 'the edge 0-1 and the triangle 2-3-4 share no vertex');
  t.notOk(guardsNothing(mesh, EE, [0, 1, 3, 4]), 'the edge 3-4 and the triangle 0-1-2 share no vertex');
  const rod = of({ segments: Uint32Array.of(0, 5, 5, 6) });
  t.notOk(guardsNothing(rod, VT, [0, 1, 3, 2]), 'the rod 0-5 ends at the corner');
  t.notOk(guardsNothing(rod, EE, [5, 6, 0, 1]), 'a rod');
  const grain = of({ particles: Uint32Array.of(5) });
  t.notOk(guardsNothing(grain, VT, [5, 1, 3, 2]), 'a grain is an element itself');
});
