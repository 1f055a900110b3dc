import t from 'tap';
import { membersOf } from '../../../gpu/step/strain-buffers.js';
import { NO_CORNER } from '../../../src/mesh/strain.js';

t.test('The vertices of each component follow each other, ascending, after the places where they begin.', async (t) => {
  const componentOf = Uint32Array.of(1, NO_CORNER, 0, 1, 2, 0);
  t.strictSame([...membersOf({ componentOf, components: 3 })], [4, 6, 8, 9, 2, 5, 0, 3, 4]);
});

t.test('There may be any number of components, as in a heap of loose triangles.', async (t) => {
  const components = 300_000;
  const componentOf = Uint32Array.from({ length: 3 * components }, (_, v) => Math.floor(v / 3));
  const words = membersOf({ componentOf, components });
  t.equal(words.length, 1 + 4 * components);
  t.equal(words[components], words.length, 'the end');
  t.strictSame([...words.slice(-3)], [3 * components - 3, 3 * components - 2, 3 * components - 1]);
});
