import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import t from 'tap';
import { buffersOf, Mailbox, packCopies } from '../../src/lanes/transfer.js';

t.test('requests travel as copies: the caller keeps its arrays', async (t) => {
  const body = new ArrayBuffer(1 << 20);
  const value = {
    mesh: { triangles: new Uint32Array(body, 0, 3), parts: [{ name: 'a', firstVertex: 0 }] },
    start: new Float32Array(body, 1024, 6).fill(7),
    kinematic: Buffer.from([1, 2, 3]),
    nothing: undefined,
    budget: 1.5,
  };
  const { value: packed, transfer } = packCopies(value);
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(packed, transfer);
  const received = receiveMessageOnPort(port2)?.message as typeof value;
  port1.close();
  t.same(received.start, new Float32Array(6).fill(7));
  t.equal(received.start.buffer.byteLength, 24, 'not the whole body it was a view of');
  t.same(received.mesh.parts, value.mesh.parts);
  t.same(Array.from(received.kinematic), [1, 2, 3]);
  t.equal(received.budget, 1.5);
  t.equal(packed.start.length, 0, 'the copy was handed over');
  t.equal(value.start[0], 7, 'the original was not');
  t.same([...value.kinematic], [1, 2, 3], 'nor Node’s pool under a Buffer');
});

t.test('answers are transferred without a copy, each buffer once', async (t) => {
  const buffer = new ArrayBuffer(16);
  const shared = new Float32Array(new SharedArrayBuffer(8));
  const value = {
    a: new Uint8Array(buffer, 0, 4),
    list: [new Float32Array(buffer, 4, 1)],
    other: new Float64Array(1),
    shared,
  };
  const buffers = buffersOf(value);
  t.equal(buffers.length, 2, 'two buffers; a shared one needs no transfer');
  t.ok(buffers.includes(buffer));
  t.ok(buffers.includes(value.other.buffer));
});

t.test('the other thread sees the array in a mailbox, and the next array overwrites it', async (t) => {
  const mailbox = new Mailbox();
  const first = mailbox.put(Float64Array.of(1, 2, 3));
  t.same(first, Float64Array.of(1, 2, 3));
  const { value, transfer } = packCopies({ target: first });
  t.equal(value.target, first, 'it is not copied again');
  t.same(transfer, []);
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(value, transfer);
  const received = receiveMessageOnPort(port2)?.message as typeof value;
  port1.close();
  const own = Float32Array.of(7, 8);
  const second = mailbox.put(own);
  t.same(second, own);
  t.equal(second.buffer, first.buffer, 'memory is new only once');
  t.same(new Float32Array(received.target.buffer, 0, 2), own);
  t.same(mailbox.put(new Float32Array(9).fill(5)), new Float32Array(9).fill(5), 'more than there was room for');
  t.same(own, Float32Array.of(7, 8), 'the caller keeps its array');
});

t.test('a mailbox counts its bytes, and frees them', async (t) => {
  const mailbox = new Mailbox();
  t.equal(mailbox.bytes, 0);
  mailbox.put(new Float64Array(10));
  mailbox.put(new Float32Array(3));
  t.equal(mailbox.bytes, 80, 'room for the largest so far');
  mailbox.release();
  t.equal(mailbox.bytes, 0);
  t.same(mailbox.put(Float32Array.of(1, 2)), Float32Array.of(1, 2));
  t.equal(mailbox.bytes, 8);
});
