import t from 'tap';
import { Scratch } from '../../../src/solver/cpu/scratch.js';

t.test('a room is lent again as it was left, and as long as it was asked for', async (t) => {
  const scratch = new Scratch();
  const first = scratch.float32('a', 100).fill(7);
  t.equal(scratch.bytes, 400);
  const again = scratch.float32('a', 60);
  t.equal(again.length, 60);
  t.equal(again.buffer, first.buffer, 'the same memory');
  t.equal(scratch.int32('b', 3).buffer === first.buffer, false, 'another name is another room');
  t.equal(scratch.uint8('c', 5).length, 5);
  t.equal(scratch.uint32('d', 2).byteLength, 8);
});

t.test('a demand that creeps up costs new memory a few times only', async (t) => {
  const scratch = new Scratch();
  const buffers = new Set<ArrayBufferLike>();
  for (let length = 1000; length < 2000; length++) buffers.add(scratch.float32('a', length).buffer);
  t.ok(buffers.size < 6, `${buffers.size} times`);
  t.ok(scratch.bytes < 1.25 * 4 * 2000);
});

t.test('release gives everything back', async (t) => {
  const scratch = new Scratch();
  scratch.float32('a', 100);
  scratch.release();
  t.equal(scratch.bytes, 0);
  t.equal(scratch.float32('a', 10).length, 10);
});
