import { IntersticeError } from '../contract/errors.js';
import type { MeshInput, PartInput } from '../contract/mesh.js';
import { MAX_NAME_CHARACTERS } from '../contract/sessions.js';
import { quoteName } from './part-names.js';

/** The smallest normal float32; graphics hardware may flush anything below it to zero, which would mean "kinematic". */
const FLOAT32_MIN_NORMAL = 2 ** -126;
const FLOAT32_MAX = (2 - 2 ** -23) * 2 ** 127;

/**
 * Refuses flags other than 0 and 1, which are mistakes (floats sent as bytes, a mask of 255).
 *
 * @throws IntersticeError INVALID_MESH, naming the vertex
 */
export function checkFlags(kinematic: Uint8Array): void {
  const vertex = kinematic.findIndex((flag) => flag > 1);
  if (vertex < 0) return;
  throw new IntersticeError(
    'INVALID_MESH',
    `kinematic of vertex ${vertex} is ${kinematic[vertex]}; it must be 0 or 1.`,
    { element: nameVertex(vertex), hint: 'Send one byte a vertex: 1 for obstacles and pins, 0 for all others.' },
  );
}

/** Returns uint8[V], 1 = kinematic by itself or by its part. */
export function readKinematic(input: MeshInput): Uint8Array {
  const kinematic = new Uint8Array(input.vertexCount);
  const sent = input.kinematic;
  if (sent) for (let vertex = 0; vertex < kinematic.length; vertex++) kinematic[vertex] = sent[vertex] === 0 ? 0 : 1;
  for (const part of input.parts ?? []) {
    if (part.kinematic === true) kinematic.fill(1, part.firstVertex, part.firstVertex + part.vertexCount);
  }
  return kinematic;
}

/**
 * Inverse masses scaled by the mean mass of the dynamic vertices (only ratios matter, and numbers near 1 keep the
 * solver's products far from the ends of float32).
 *
 * @param masses float32[V] > 0, or undefined for uniform masses
 * @param kinematic uint8[V]
 * @returns float32[V]; 0 for kinematic vertices
 * @throws IntersticeError SIZE_MISMATCH, NOT_FINITE or INVALID_MESH, naming the vertex
 */
export function invertMasses(masses: Float32Array | undefined, kinematic: Uint8Array): Float32Array {
  const vertexCount = kinematic.length;
  const inverse = new Float32Array(vertexCount);
  if (masses === undefined) {
    for (let vertex = 0; vertex < vertexCount; vertex++) inverse[vertex] = kinematic[vertex] === 0 ? 1 : 0;
    return inverse;
  }
  if (masses.length !== vertexCount) {
    throw new IntersticeError('SIZE_MISMATCH', `masses has ${masses.length} entries; it must have ${vertexCount}.`);
  }
  const mean = averageMass(masses, kinematic);
  for (let vertex = 0; vertex < vertexCount; vertex++) {
    if (kinematic[vertex] !== 0) continue;
    const ratio = mean / masses[vertex]!;
    if (ratio < FLOAT32_MIN_NORMAL || ratio > FLOAT32_MAX) {
      throw new IntersticeError(
        'INVALID_MESH',
        `The mass of vertex ${vertex}, ${masses[vertex]}, is too far from the mean mass ${mean}: float32 cannot hold their ratio.`,
        {
          element: nameVertex(vertex),
          hint: 'Bring the masses closer together, or make very heavy vertices kinematic.',
        },
      );
    }
    inverse[vertex] = ratio;
  }
  return inverse;
}

/**
 * Averages in double precision: the sum of equal float32 masses is exact, so uniform masses give inverse masses of
 * exactly 1.
 */
function averageMass(masses: Float32Array, kinematic: Uint8Array): number {
  let sum = 0;
  let count = 0;
  for (let vertex = 0; vertex < masses.length; vertex++) {
    const mass = masses[vertex]!;
    if (!Number.isFinite(mass)) {
      throw new IntersticeError('NOT_FINITE', `The mass of vertex ${vertex} is ${mass}.`, {
        element: nameVertex(vertex),
      });
    }
    if (mass <= 0) {
      const isKinematic = kinematic[vertex] !== 0;
      throw new IntersticeError('INVALID_MESH', `The mass of vertex ${vertex} is ${mass}; it must be greater than 0.`, {
        element: nameVertex(vertex),
        hint: isKinematic
          ? 'The vertex is kinematic, so its mass is ignored: send any number greater than 0, such as 1.'
          : 'Mark vertices that only follow their target as kinematic, and send any number greater than 0 as their mass, which is ignored.',
      });
    }
    if (kinematic[vertex] === 0) {
      sum += mass;
      count++;
    }
  }
  return sum / count;
}

export const nameVertex = (vertex: number) => ({ kind: 'vertex', index: vertex, vertices: [vertex] });

/** A character has at most two units, so a very long name need not be split. */
const isLong = (name: string): boolean =>
  name.length > 2 * MAX_NAME_CHARACTERS ||
  (name.length > MAX_NAME_CHARACTERS && [...name].length > MAX_NAME_CHARACTERS);

/**
 * Checks that parts cover all vertices in order, without gaps, with different names of at most
 * {@link MAX_NAME_CHARACTERS}; or that there are none.
 *
 * @throws IntersticeError INVALID_MESH, naming the part; INVALID_PARAMETER for an invalid activation distance
 */
export function checkParts(parts: readonly PartInput[], vertexCount: number): void {
  if (parts.length === 0) return;
  const indexOfName = new Map<string, number>();
  let next = 0;
  parts.forEach((part, index) => {
    const named = `Part ${index} (${quoteName(part.name)})`;
    const refuse = (problem: string): never => {
      throw new IntersticeError('INVALID_MESH', `${named} ${problem}.`, {
        element: { kind: 'part', index, vertices: [] },
        hint: 'Parts cover all vertices in order, without gaps or overlaps, each under its own name.',
      });
    };
    if (part.name === '') refuse('has no name');
    // Reports repeat names: in every contour, every region, and warnings.
    if (isLong(part.name)) refuse(`has a name of more than ${MAX_NAME_CHARACTERS} characters`);
    const earlier = indexOfName.get(part.name);
    if (earlier !== undefined) refuse(`has the name of part ${earlier}`);
    indexOfName.set(part.name, index);
    if (part.firstVertex !== next) refuse(`starts at vertex ${part.firstVertex}; it must start at vertex ${next}`);
    if (!Number.isInteger(part.vertexCount) || part.vertexCount < 1) {
      refuse(`has ${part.vertexCount} vertices; it must have at least one`);
    }
    const { activationDistance: delta } = part;
    if (delta !== undefined && !(delta > 0 && delta < Number.POSITIVE_INFINITY)) {
      throw new IntersticeError(
        'INVALID_PARAMETER',
        `mesh.parts[${index}].activationDistance is ${delta}; it must be greater than 0 and finite.`,
        { element: { kind: 'part', index, vertices: [] } },
      );
    }
    next += part.vertexCount;
    if (next > vertexCount) refuse(`ends at vertex ${next}, but there are ${vertexCount} vertices`);
  });
  if (next < vertexCount) {
    throw new IntersticeError(
      'INVALID_MESH',
      `The parts end at vertex ${next}, but there are ${vertexCount} vertices.`,
      {
        hint: 'Parts cover all vertices in order: add a part for the rest.',
      },
    );
  }
}

/** Returns int32[V], the index into parts; empty if there are none. */
export function assignParts(parts: readonly PartInput[], vertexCount: number): Int32Array {
  const partOfVertex = new Int32Array(parts.length === 0 ? 0 : vertexCount);
  parts.forEach((part, index) => {
    partOfVertex.fill(index, part.firstVertex, part.firstVertex + part.vertexCount);
  });
  return partOfVertex;
}

/**
 * Returns uint32[2·n] as sent, lower index first. A pair of a part with itself means the part's own elements.
 *
 * @throws IntersticeError INDEX_OUT_OF_RANGE for an index that is not a part
 */
export function readIgnoredPartPairs(sent: Uint32Array | undefined, partCount: number): Uint32Array {
  const pairs = new Uint32Array(sent ?? []);
  for (let i = 0; i < pairs.length; i += 2) {
    const a = pairs[i]!;
    const b = pairs[i + 1]!;
    if (a >= partCount || b >= partCount) {
      throw new IntersticeError(
        'INDEX_OUT_OF_RANGE',
        `Ignored part pair ${i / 2} (${a}, ${b}) refers to a part that does not exist; there are ${partCount} parts.`,
        { hint: 'Indices of parts count from 0, in the order of parts.' },
      );
    }
    pairs[i] = Math.min(a, b);
    pairs[i + 1] = Math.max(a, b);
  }
  return pairs;
}
