import { createHash } from 'node:crypto';
import t from 'tap';
import { hashContent } from '../../src/jobs/content-hash.js';

const mesh = { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) };
const start = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);

t.test('the hash covers a line for each field and then its bytes, little-endian, as documented', async (t) => {
  const hash = createHash('sha256');
  hash.update('vertexCount u32 4\n').update(Uint8Array.of(3, 0, 0, 0));
  hash.update('triangles u32 12\n').update(Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0));
  const bytes = new DataView(new ArrayBuffer(36));
  start.forEach((value, k) => {
    bytes.setFloat32(4 * k, value, true);
  });
  hash.update('start f32 36\n').update(new Uint8Array(bytes.buffer));
  t.equal(hashContent(mesh, start), hash.digest('hex'));
});

t.test('every field changes the hash, and so do its name, type and scalar', async (t) => {
  const parts = [{ name: 'a', firstVertex: 0, vertexCount: 3 }];
  const hashes = [
    hashContent(mesh, start),
    hashContent(mesh, Float64Array.from(start)),
    hashContent({ vertexCount: 4, triangles: mesh.triangles }, start),
    hashContent({ vertexCount: 3, tetrahedra: mesh.triangles }, start),
    hashContent({ ...mesh, masses: Float32Array.of(1, 1, 1) }, start),
    hashContent({ ...mesh, kinematic: Uint8Array.of(1, 0, 0) }, start),
    hashContent({ ...mesh, parts }, start),
    hashContent({ ...mesh, parts: [{ ...parts[0]!, kinematic: true }] }, start),
    hashContent({ ...mesh, parts: [{ ...parts[0]!, activationDistance: 0.5 }] }, start),
    hashContent({ ...mesh, parts: [{ ...parts[0]!, contactOffset: 0.5 }] }, start),
    hashContent({ ...mesh, parts: [{ ...parts[0]!, activationDistance: 0.5, contactOffset: 0.5 }] }, start),
    hashContent({ ...mesh, parts, ignoredPartPairs: Uint32Array.of(0, 0) }, start),
  ];
  t.equal(new Set(hashes).size, hashes.length);
  t.equal(hashContent({ ...mesh, parts: [{ ...parts[0]!, kinematic: false }] }, start), hashes[6], 'the default');
});

t.test('a view has the hash of its contents', async (t) => {
  const wide = Float32Array.of(9, ...start, 9);
  t.equal(hashContent(mesh, wide.subarray(1, 10)), hashContent(mesh, start));
});
