import t from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { buildMesh } from '../../../src/mesh/build.js';
import { readMesh, toMeshInput, writeMesh } from '../../../src/mesh/files/index.js';
import type { MeshFile } from '../../../src/mesh/files/types.js';
import { seeded } from '../../support/random.js';

/** Damaged copies of each file: enough to reach every state of the readers, few enough for a second. */
const ROUNDS = 1500;

const random = seeded();
t.comment(`seed ${random.seed}`);

const mesh: MeshFile = {
  format: 'ply',
  scalar: 'FLOAT32',
  vertexCount: 6,
  positions: Float32Array.from({ length: 18 }, (_, i) => i / 7 - 1),
  triangles: Uint32Array.of(0, 1, 2, 0, 2, 3),
  segments: Uint32Array.of(3, 4),
  particles: Uint32Array.of(5),
  faceSizes: Uint32Array.of(4),
  faceVertices: Uint32Array.of(0, 1, 2, 3),
};

function damage(bytes: Buffer): Uint8Array {
  const copy = Buffer.from(bytes);
  for (let i = random.int(4); i >= 0; i--) {
    const at = random.int(copy.length);
    switch (random.int(4)) {
      case 0:
        copy[at] = random.int(256);
        break;
      case 1:
        copy[at] = '0123456789 -.e\n\r\\/#'.charCodeAt(random.int(19));
        break;
      case 2:
        copy.copyWithin(at, random.int(copy.length));
        break;
      default:
        return copy.subarray(0, at);
    }
  }
  return copy;
}

function cut(bytes: Uint8Array): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = start + 1 + random.int(64);
    chunks.push(bytes.subarray(start, end));
    start = end;
  }
  return chunks;
}

const kinds = [
  { format: 'obj' },
  { format: 'ply', plyEncoding: 'ascii' },
  { format: 'ply', plyEncoding: 'binary_little_endian' },
  { format: 'ply', plyEncoding: 'binary_big_endian' },
] as const;

for (const kind of kinds) {
  t.test(`damaged files are read or refused, never more: ${Object.values(kind).join(' ')}`, async (t) => {
    const whole = Buffer.concat([...writeMesh({ ...mesh, ...kind }, kind.format)]);
    let refused = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const bytes = damage(whole);
      try {
        const file = await readMesh(cut(bytes), kind.format);
        // Whatever reads has to hold together: what goes wrong later is a refusal, too.
        buildMesh(toMeshInput(file));
        writeMesh(file, kind.format);
      } catch (thrown) {
        refused++;
        if (thrown instanceof IntersticeError && thrown.code !== 'INTERNAL' && thrown.message !== '') continue;
        t.fail(`round ${round}: ${thrown}`, { found: thrown, bytes: Buffer.from(bytes).toString('latin1') });
      }
    }
    t.ok(refused > 0 && refused < ROUNDS, `${refused} of ${ROUNDS} refused`);
  });
}
