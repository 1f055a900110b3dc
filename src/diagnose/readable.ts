import type { DiagnosisFinding } from '../contract/diagnosis.js';
import type { ElementRef } from '../contract/elements.js';
import { IntersticeError } from '../contract/errors.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import { buildMesh } from '../mesh/build.js';
import { MAX_COORDINATE } from '../mesh/positions.js';
import type { CollisionMesh } from '../mesh/types.js';
import { finding, plural } from './subject.js';

/** A mesh without the elements that no operation can read. */
export interface Readable {
  /** undefined = no element is left */
  readonly mesh: CollisionMesh | undefined;
  readonly x: Float64Array;
  readonly y: Float64Array | undefined;
  /** uint8[V] 1 = an element that was left out names it */
  readonly isNamed: Uint8Array;
  /** uint32[T] the caller's index of each triangle that was kept; boundary faces of tetrahedra come after these */
  readonly triangleIds: Uint32Array;
  readonly findings: readonly DiagnosisFinding[];
}

const KINDS = [
  ['triangles', 'triangle', 3],
  ['segments', 'segment', 2],
  ['particles', 'particle', 1],
  ['tetrahedra', 'tetrahedron', 4],
] as const;

type Fault = 'INDEX_OUT_OF_RANGE' | 'REPEATED_VERTEX' | 'DUPLICATE_ELEMENT' | 'ELEMENT_NOT_FINITE';

const FAULTS: readonly (readonly [Fault, what: string, advice: string])[] = [
  ['INDEX_OUT_OF_RANGE', 'with an id that does not exist', 'Ids count from 0; OBJ files count from 1.'],
  [
    'REPEATED_VERTEX',
    'with a vertex twice',
    'Remove them: they have no area. Of a glTF file, interstice doctor --weld-to FILE does it.',
  ],
  ['DUPLICATE_ELEMENT', 'with the vertices of another', 'Remove one of each two: they coincide.'],
  ['ELEMENT_NOT_FINITE', 'with a corner that is not finite or out of range', 'See NOT_FINITE and COORDINATE_RANGE.'],
];

/**
 * Extracts the usable part of a mesh that may be refused: elements that name vertices that do not exist, a vertex
 * twice, or the vertices of another element are counted and left out, as are those with a corner that is not finite.
 * The rest can be diagnosed. Strain limits and lengths at rest are left out too: they say what a resolve does, and name
 * elements by the ids that were sent.
 *
 * @param target a second state, absent = only the start is diagnosed
 * @param maxElements elements that a finding names
 * @param build builds the mesh of what is left; its limits apply, since the work grows with the sizes
 * @throws TOO_LARGE, SIZE_MISMATCH (lengths), INVALID_MESH (parts, ids of them)
 */
export function readReadable(
  input: MeshInput,
  positions: Positions,
  target: Positions | undefined,
  maxElements: number,
  build: (mesh: MeshInput) => CollisionMesh = buildMesh,
): Readable {
  const { vertexCount } = input;
  const badVertices = new Uint8Array(vertexCount);
  const isNamed = new Uint8Array(vertexCount);
  const findings: DiagnosisFinding[] = [];
  const x = readFinite(positions, vertexCount, 'positions', badVertices, maxElements, findings);
  const y = target && readFinite(target, vertexCount, 'target', badVertices, maxElements, findings);
  const kept: { -readonly [K in (typeof KINDS)[number][0]]?: Uint32Array } = {};
  let triangleIds = new Uint32Array(0);
  for (const [name, kind, width] of KINDS) {
    const elements = input[name];
    if (!elements || elements.length % width !== 0) continue;
    const sorted = sortOut(elements, { kind, width, isBad: badVertices, isNamed }, maxElements);
    findings.push(...sorted.findings);
    kept[name] = sorted.elements;
    if (name === 'triangles') triangleIds = sorted.ids;
  }
  const count = KINDS.reduce((sum, [name]) => sum + (kept[name]?.length ?? input[name]?.length ?? 0), 0);
  const clean = { ...input, ...kept };
  delete (clean as { strainLimits?: unknown }).strainLimits;
  delete (clean as { restLengths?: unknown }).restLengths;
  if (count === 0) {
    const message = findings.length > 0 ? 'No readable element is left.' : 'The mesh has no elements.';
    findings.push(
      finding({
        code: 'NO_ELEMENTS',
        severity: 'PROBLEM',
        count: 1,
        message,
        advice: 'Send triangles, segments, particles or tetrahedra.',
      }),
    );
    return { mesh: undefined, x, y, isNamed, triangleIds, findings };
  }
  try {
    return { mesh: build(clean), x, y, isNamed, triangleIds, findings };
  } catch (thrown) {
    if (!(thrown instanceof IntersticeError) || thrown.code !== 'INVALID_MESH' || !clean.tetrahedra?.length)
      throw thrown;
    // A face belongs to three tetrahedra: the solids are left out, the elements around them are diagnosed.
    const element = thrown.toPlain().details?.element;
    const elements = element ? [element] : [];
    findings.push(
      finding({
        code: 'INVALID_SOLID',
        severity: 'PROBLEM',
        count: 1,
        elements,
        message: thrown.message,
        advice: 'Mesh the solid again.',
      }),
    );
    const { tetrahedra, ...rest } = clean;
    for (const v of tetrahedra ?? []) isNamed[v] = 1;
    return { mesh: build(rest), x, y, isNamed, triangleIds, findings };
  }
}

/** Reads the numbers as doubles; vertices that are not finite or out of range become 0 and are marked. */
function readFinite(
  positions: Positions,
  vertexCount: number,
  name: string,
  bad: Uint8Array,
  maxElements: number,
  findings: DiagnosisFinding[],
): Float64Array {
  if (positions.length !== 3 * vertexCount) {
    throw new IntersticeError(
      'SIZE_MISMATCH',
      `${name} has ${positions.length} coordinates; ${vertexCount} vertices have ${3 * vertexCount}.`,
    );
  }
  const x = new Float64Array(positions);
  const state = name === 'target' ? 'target' : 'start';
  const infinite: number[] = [];
  const large: number[] = [];
  for (let v = 0; v < vertexCount; v++) {
    const size = Math.max(Math.abs(x[3 * v]), Math.abs(x[3 * v + 1]), Math.abs(x[3 * v + 2]));
    if (size <= MAX_COORDINATE) continue;
    const hasNumbers = [0, 1, 2].every((axis) => Number.isFinite(x[3 * v + axis]));
    (hasNumbers ? large : infinite).push(v);
    bad[v] = 1;
    x.fill(0, 3 * v, 3 * v + 3);
  }
  const add = (code: string, vertices: readonly number[], what: string): void => {
    if (vertices.length === 0) return;
    const count = vertices.length;
    const elements: ElementRef[] = vertices
      .slice(0, maxElements)
      .map((v) => ({ kind: 'vertex', index: v, vertices: [v] }));
    const message = `${plural(count, 'vertex', 'vertices')} of the ${state} ${what}.`;
    const advice = 'The solver that wrote them has diverged, or the file is damaged.';
    findings.push(finding({ code, severity: 'PROBLEM', count, elements, message, advice }));
  };
  add('NOT_FINITE', infinite, 'with a coordinate that is not finite (NaN or infinite)');
  add('COORDINATE_RANGE', large, `with coordinates beyond ${MAX_COORDINATE}`);
  return x;
}

/** @param about the vertices; `isNamed` receives those of the elements that are left out */
function sortOut(
  elements: Uint32Array,
  about: { readonly kind: string; readonly width: number; readonly isBad: Uint8Array; readonly isNamed: Uint8Array },
  maxElements: number,
): { elements: Uint32Array; ids: Uint32Array<ArrayBuffer>; findings: DiagnosisFinding[] } {
  const { kind, width, isBad, isNamed } = about;
  const count = elements.length / width;
  const counts = new Map<Fault, number>();
  const named = new Map<Fault, ElementRef[]>();
  const ids = new Uint32Array(count);
  const seen = new Set<string | number>();
  let end = 0;
  for (let i = 0; i < count; i++) {
    const vertices = Array.from(elements.subarray(width * i, width * (i + 1)));
    const fault = faultOf(vertices, isBad, seen);
    if (!fault) {
      ids[end++] = i;
      continue;
    }
    // An id that does not exist is not written.
    for (const v of vertices) isNamed[v] = 1;
    counts.set(fault, (counts.get(fault) ?? 0) + 1);
    const list = named.get(fault) ?? [];
    named.set(fault, list);
    if (list.length < maxElements) list.push({ kind, index: i, vertices });
  }
  const many = kind === 'tetrahedron' ? 'tetrahedra' : `${kind}s`;
  const findings = FAULTS.filter(([code]) => counts.has(code)).map(([code, what, advice]) =>
    finding({
      code,
      severity: 'PROBLEM',
      count: counts.get(code)!,
      elements: named.get(code)!,
      message: `${plural(counts.get(code)!, kind, many)} ${what}.`,
      advice,
    }),
  );
  if (end === count) return { elements, ids, findings };
  const kept = new Uint32Array(width * end);
  for (let k = 0; k < end; k++) kept.set(elements.subarray(width * ids[k], width * (ids[k] + 1)), width * k);
  return { elements: kept, ids: ids.slice(0, end), findings };
}

function faultOf(vertices: readonly number[], bad: Uint8Array, seen: Set<string | number>): Fault | undefined {
  if (vertices.some((v) => v >= bad.length)) return 'INDEX_OUT_OF_RANGE';
  if (vertices.some((v, k) => vertices.indexOf(v) !== k)) return 'REPEATED_VERTEX';
  if (vertices.some((v) => bad[v] === 1)) return 'ELEMENT_NOT_FINITE';
  const sorted = [...vertices].sort((a, b) => a - b);
  const key = sorted.length === 1 ? sorted[0] : sorted.join(' ');
  if (seen.has(key)) return 'DUPLICATE_ELEMENT';
  seen.add(key);
  return undefined;
}
