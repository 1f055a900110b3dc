import t from 'tap';
import { foldThreads, WORKGROUP_SIZE } from '../../../gpu/device/dispatch.js';
import { bindingsOf, loadKernel } from '../../../gpu/shaders.js';

t.test('includes are inserted once, where they are first named', async (t) => {
  const text = loadKernel('forward/bound');
  t.equal(text.match(/struct Corners \{/g)?.length, 1);
  t.equal(text.match(/fn lengthOf\(/g)?.length, 1, 'two files name it, and it is inserted once');
  t.notMatch(text, /^\s*\/\/ #include/m);
  t.ok(text.indexOf('struct Corners {') < text.indexOf('fn bound('), 'before its use');
  t.equal(loadKernel('forward/bound'), text);
});

t.test('the error for a missing file names the file and the one that requires it', async (t) => {
  t.throws(() => loadKernel('no-such-kernel'), /no-such-kernel\.wgsl.*loadKernel/);
});

t.test('bindings are found by name, kind and index, in included files, too', async (t) => {
  const bindings = bindingsOf(loadKernel('backward/edges'));
  t.strictSame(
    bindings.map(({ index, name }) => [index, name]),
    [
      [1, 'y'],
      [2, 'edgeEnds'],
      [3, 'edgeRow'],
      [4, 'edgeLambda'],
      [5, 'inverseMass'],
      [6, 'edgeRange'],
      [7, 'edgeColours'],
    ],
  );
  t.equal(bindings[0].type, 'storage');
  t.equal(bindings[1].type, 'read-only-storage');
  t.equal(bindings[5].type, 'uniform');
});

t.test('no kernel of a step binds more storage buffers than every implementation allows', async (t) => {
  for (const file of [
    'backward/prepare',
    'backward/list-near-pairs',
    'backward/geometry',
    'forward/list-bounded-pairs',
    'forward/bound',
    'forward/check',
    'backward/contacts-select',
    'backward/contacts-rows',
    'backward/contacts-links',
    'search/keep-pairs',
    'control/decide',
    'backward/sweep',
    'backward/slide',
  ]) {
    const storage = bindingsOf(loadKernel(file)).filter(({ type }) => type !== 'uniform');
    t.ok(storage.length > 0 && storage.length <= 8, `${file}: ${storage.length}`);
  }
});

t.test('Dispatches fold so that every thread exists and no dimension is too long.', async (t) => {
  t.strictSame(foldThreads(0), [0, 1, 1]);
  for (const threads of [
    1,
    WORKGROUP_SIZE,
    WORKGROUP_SIZE + 1,
    32768 * WORKGROUP_SIZE,
    32768 * WORKGROUP_SIZE + 1,
    100_000_000,
  ]) {
    const [x, y] = foldThreads(threads);
    t.ok(x * y * WORKGROUP_SIZE >= threads && x <= 65535 && y <= 65535, `${threads}: ${x} × ${y}`);
    t.ok((x * y - x) * WORKGROUP_SIZE < threads, 'no superfluous row');
  }
});
