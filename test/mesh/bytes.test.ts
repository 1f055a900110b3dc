import t from 'tap';
import { bytesOf } from '../../src/mesh/bytes.js';

t.test('each buffer counts once in the bytes of memory', async (t) => {
  const array = new Float32Array(4);
  t.equal(bytesOf(array, { a: array, b: [new Uint8Array(3)] }, undefined, 'text'), 19);
  t.equal(bytesOf(array.subarray(0, 1)), 16, 'a view keeps all of its buffer');
});

t.test('the contents of maps and class instances count as well', async (t) => {
  class Holder {
    readonly kept = new Map([['a', { array: new Float64Array(4) }]]);
    readonly own = new Uint8Array(5);
  }
  t.equal(bytesOf(new Holder(), new Map([[1, new Uint8Array(2)]])), 39);
});
