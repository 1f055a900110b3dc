import { createHash } from 'node:crypto';
import type { MeshInput, Positions } from '../contract/mesh.js';

/**
 * Identifies the input that a session was opened with: sha256, 64 lower-case hexadecimal digits, over these fields in
 * this order, without absent ones:
 *
 *   vertexCount, triangles, segments, particles, tetrahedra, masses, kinematic, parts, ignoredPartPairs, strainRest, strainLimits, restPositions, restEdges,
 *   restLengths, start
 *
 * Each field is a line of ASCII, `NAME TYPE LENGTH\n` (TYPE u8, u32, f32, f64 or json; LENGTH in bytes), followed by
 * its bytes, numbers little-endian. vertexCount is u32; parts is the JSON of the list of `[name, firstVertex,
 * vertexCount, kinematic]`, where kinematic is true or false. If it is set, activationDistance follows. If
 * contactOffset is set, activationDistance (null if it is not set) and contactOffset follow. If the part has strain
 * limits, [strainMin, strainMax] follows, null for a limit that is not set. strainLimits is the JSON of [min, max],
 * null for a limit that is not set. Each length precedes its bytes, so no two inputs give the same stream.
 */
export function hashContent(mesh: MeshInput, start: Positions): string {
  const hash = createHash('sha256');
  const add = (name: string, type: string, bytes: Uint8Array) => {
    hash.update(`${name} ${type} ${bytes.byteLength}\n`);
    hash.update(bytes);
  };
  const addArray = (name: string, array: Uint8Array | Uint32Array | Float32Array | Float64Array | undefined) => {
    if (array) add(name, TYPES[array.BYTES_PER_ELEMENT]![array instanceof Uint32Array ? 1 : 0]!, littleEndian(array));
  };
  addArray('vertexCount', Uint32Array.of(mesh.vertexCount));
  addArray('triangles', mesh.triangles);
  addArray('segments', mesh.segments);
  addArray('particles', mesh.particles);
  addArray('tetrahedra', mesh.tetrahedra);
  addArray('masses', mesh.masses);
  addArray('kinematic', mesh.kinematic);
  if (mesh.parts) {
    const parts = mesh.parts.map((part) => {
      const { name, firstVertex, vertexCount, kinematic = false, activationDistance: delta, contactOffset } = part;
      const lengths = contactOffset === undefined ? [delta] : [delta ?? null, contactOffset];
      const { strainMin, strainMax } = part;
      const hasStrains = strainMin !== undefined || strainMax !== undefined;
      const strains = hasStrains ? [[strainMin ?? null, strainMax ?? null]] : [];
      return [
        name,
        firstVertex,
        vertexCount,
        kinematic,
        ...lengths.filter((length) => length !== undefined),
        ...strains,
      ];
    });
    add('parts', 'json', Buffer.from(JSON.stringify(parts)));
  }
  addArray('ignoredPartPairs', mesh.ignoredPartPairs);
  if (mesh.strainLimits) {
    const { rest, min = null, max = null } = mesh.strainLimits;
    addArray('strainRest', rest);
    add('strainLimits', 'json', Buffer.from(JSON.stringify([min, max])));
  }
  addArray('restPositions', mesh.restLengths?.positions);
  addArray('restEdges', mesh.restLengths?.edges);
  addArray('restLengths', mesh.restLengths?.lengths);
  addArray('start', start);
  return hash.digest('hex');
}

/** By bytes per element: the name of the float (or byte) type, then that of the integer type. */
const TYPES: Readonly<Record<number, readonly [string, string]>> = {
  1: ['u8', 'u8'],
  4: ['f32', 'u32'],
  8: ['f64', 'f64'],
};

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

function littleEndian(array: Uint8Array | Uint32Array | Float32Array | Float64Array): Uint8Array {
  const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  if (IS_LITTLE_ENDIAN || array.BYTES_PER_ELEMENT === 1) return bytes;
  const own = Buffer.from(bytes);
  return array.BYTES_PER_ELEMENT === 4 ? own.swap32() : own.swap64();
}
