import fc from 'fast-check';
import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import { readMesh, writeMesh } from '../../src/mesh/files/index.js';
import type { MeshFile } from '../../src/mesh/files/types.js';
import { settingsOf } from './arbitraries.js';

const VERTICES = 9;
const ids = (size: number) =>
  fc.uniqueArray(fc.integer({ min: 0, max: VERTICES - 1 }), { minLength: size, maxLength: size });
const single = fc.float({ noNaN: true, noDefaultInfinity: true });
const double = fc.double({ noNaN: true, noDefaultInfinity: true });

function bytesOf(file: MeshFile, format: 'obj' | 'ply'): Uint8Array {
  return Buffer.concat([...writeMesh(file, format)]);
}

/** Cuts bytes where a network might. */
function* cut(bytes: Uint8Array, at: readonly number[]): Generator<Uint8Array> {
  const places = [0, ...at.map((k) => k % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  for (let k = 1; k < places.length; k++) yield bytes.subarray(places[k - 1], places[k]);
}

for (const scalar of ['FLOAT32', 'FLOAT64'] as const) {
  for (const format of ['obj', 'ply'] as const) {
    t.test(`${format}, ${scalar}: what is written reads back bit for bit, however it is cut`, async (t) => {
      const settings = settingsOf(t, 120);
      await fc.assert(
        fc.asyncProperty(
          fc.array(scalar === 'FLOAT32' ? single : double, { minLength: 3 * VERTICES, maxLength: 3 * VERTICES }),
          fc.array(ids(3), { minLength: 1, maxLength: 6 }),
          fc.array(fc.nat(), { maxLength: 5 }),
          fc.boolean(),
          async (coordinates, triangles, places, isBinary) => {
            const positions = scalar === 'FLOAT32' ? Float32Array.from(coordinates) : Float64Array.from(coordinates);
            const faces = Uint32Array.from(triangles.flat());
            const file: MeshFile = {
              format,
              scalar,
              vertexCount: VERTICES,
              positions,
              triangles: faces,
              segments: new Uint32Array(0),
              particles: new Uint32Array(0),
              faceSizes: new Uint32Array(triangles.length).fill(3),
              faceVertices: faces,
              ...(format === 'ply' ? { plyEncoding: isBinary ? 'binary_little_endian' : 'ascii' } : {}),
            };
            const read = await readMesh(cut(bytesOf(file, format), places), format);
            const isSame = (a: ArrayLike<number>, b: ArrayLike<number>) =>
              a.length === b.length && Array.from(a).every((value, k) => value === b[k]);
            return isSame(read.positions, positions) && isSame(read.triangles, faces);
          },
        ),
        settings,
      );
      t.pass('held');
    });
  }
}

t.test('any bytes are read or refused with an error of the table; nothing else is thrown', async (t) => {
  const settings = settingsOf(t, 400);
  const text = fc
    .array(
      fc.constantFrom(
        'v ',
        'f ',
        'l ',
        '1 ',
        '2 ',
        '3',
        '-1',
        '1e9',
        ' ',
        '\n',
        'ply\n',
        'element vertex ',
        'nan',
        '/',
        'end_header\n',
        'property float x\n',
      ),
      { maxLength: 60 },
    )
    .map((words) => Buffer.from(words.join('')));
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.uint8Array({ maxLength: 200 }), text),
      fc.constantFrom('obj', 'ply'),
      async (bytes, format) => {
        try {
          await readMesh([bytes], format as 'obj' | 'ply');
          return true;
        } catch (error) {
          return error instanceof IntersticeError && error.code !== 'INTERNAL';
        }
      },
    ),
    settings,
  );
  t.pass('held');
});
