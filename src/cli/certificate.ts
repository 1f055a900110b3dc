import { createHash } from 'node:crypto';
import { endianness } from 'node:os';
import type { Path } from '../contract/path.js';
import type { ResolveAnswer, ResolveRequest } from '../contract/requests.js';
import { addBoundaryFaces } from '../mesh/connectivity.js';
import { algorithmVersion, packageVersion } from '../paths.js';
import { encodeJson } from '../transport/json/encode.js';

/*
 * A certificate: a file with the start, every state of the path and the answer of one resolve, which
 * checker/certificate.mjs checks without this program. The format is described there.
 */

const MAGIC = 'ISTCERT1';

/** Arrays begin at multiples of this, so that a reader can view them in place. */
const ALIGNMENT = 8;

type Bulk = Uint8Array | Uint32Array | Float32Array | Float64Array;

const padded = (bytes: number): number => ALIGNMENT * Math.ceil(bytes / ALIGNMENT);

/**
 * The chunks of a certificate.
 *
 * @param answer with its path; free of ignored pairs
 */
export function* writeCertificate(request: ResolveRequest, answer: ResolveAnswer, path: Path): Generator<Uint8Array> {
  if (endianness() !== 'LE') throw new Error('Certificates are written on little-endian machines only.');
  const none = new Uint32Array();
  const { vertexCount, segments = none, particles = none, tetrahedra = none, kinematic } = request.mesh;
  const arrays: Readonly<Record<string, Bulk>> = {
    // A solid is represented by its surface.
    triangles: addBoundaryFaces(request.mesh.triangles ?? none, tetrahedra, vertexCount),
    segments,
    particles,
    kinematic: kinematic ?? new Uint8Array(vertexCount),
    start: request.start,
    answer: answer.positions,
    phases: path.phases,
    steps: path.steps,
    states: path.positions,
  };
  let offset = 0;
  const described: Record<string, object> = {};
  for (const [name, array] of Object.entries(arrays)) {
    const sha256 = createHash('sha256').update(bytesOf(array)).digest('hex');
    const type = array.constructor.name.replace('Array', '').toLowerCase();
    described[name] = { type, length: array.length, offset, sha256 };
    offset = padded(offset + array.byteLength);
  }
  const { report } = answer;
  const header = {
    format: 1,
    writtenBy: `interstice ${packageVersion}`,
    algorithmVersion,
    engine: report.engine,
    vertexCount,
    skipKinematic: report.resolved.kinematicPairs === 'SKIP',
    parameters: encodeJson('Parameters', report.resolved, { arrays: true }),
    report: encodeJson('Report', report, { arrays: true }),
    arrays: described,
  };
  const text = Buffer.from(JSON.stringify(header), 'utf8');
  const head = Buffer.alloc(padded(MAGIC.length + 4 + text.length), ' ');
  head.write(MAGIC, 'latin1');
  head.writeUInt32LE(head.length - MAGIC.length - 4, MAGIC.length);
  head.set(text, MAGIC.length + 4);
  yield head;
  for (const array of Object.values(arrays)) {
    yield bytesOf(array);
    yield new Uint8Array(padded(array.byteLength) - array.byteLength);
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Bulk): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
