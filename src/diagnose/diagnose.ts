import type { Diagnosis, DiagnosisFinding, Severity } from '../contract/diagnosis.js';
import type { ElementRef } from '../contract/elements.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import type { KinematicPairs } from '../contract/parameters.js';
import { buildMesh } from '../mesh/build.js';
import { medianLength } from '../mesh/lengths.js';
import type { CollisionMesh } from '../mesh/types.js';
import { describeComponents, findComponents } from './components.js';
import { findCoarseCoordinates } from './coordinates.js';
import { findThinGaps, type Lengths } from './gaps.js';
import { findIntersectionRegions } from './intersections.js';
import { findLayers } from './layers.js';
import { type Readable, readReadable } from './readable.js';
import { findOverlongTargets } from './stretch.js';
import type { Subject } from './subject.js';
import { readSurface } from './surface.js';
import { findTargetMismatch } from './target.js';
import { findTopology } from './topology.js';
import { findThinTriangles } from './triangles.js';
import { findUnits } from './units.js';
import { findFlippedPanels, findVertices } from './vertices.js';

export interface DiagnoseInput {
  readonly mesh: MeshInput;
  readonly positions: Positions;
  readonly target?: Positions | undefined;
  readonly maxElements: number;
  /** of the resolve that is considered; default SKIP */
  readonly kinematicPairs?: KinematicPairs;
  /** number of pairs that intersect in the start which a resolve would exclude; default 0: it would refuse them */
  readonly mostExcluded?: number;
}

/** Functions that the caller supplies, because this folder may not import them. */
export interface DiagnoseTools {
  /** @throws like buildMesh */
  readonly build?: (mesh: MeshInput) => CollisionMesh;
  /** lengths and limit that a resolve of this mesh would use; a finding = the reason why it would be refused */
  readonly lengthsOf: (
    mesh: CollisionMesh,
    x: Positions,
  ) => (Lengths & { readonly stretchLimit: number }) | DiagnosisFinding;
  /** called about every millisecond; an exception of it ends the work */
  readonly checkpoint: () => void;
  /** ms */
  readonly now: () => number;
}

/** The findings that need no engine, and data with which the job adds the rest. */
export interface Findings extends Omit<Diagnosis, 'accepted'> {
  /** ms that the search for intersections took; undefined = it ended early */
  readonly searchMs: number | undefined;
}

/**
 * Diagnoses a mesh that may be refused. No finding prevents another one: data that cannot be read are excluded from the
 * following tests.
 *
 * @throws TOO_LARGE, SIZE_MISMATCH, INVALID_MESH (parts): input that is not a mesh at all; also exceptions of the
 *   checkpoint
 */
export function findEverything(input: DiagnoseInput, tools: DiagnoseTools): Findings {
  const { checkpoint, now, build = buildMesh } = tools;
  const readable = readReadable(input.mesh, input.positions, input.target, input.maxElements, build);
  const { mesh } = readable;
  const nothing = { regions: [], regionCount: 0, components: [], componentCount: 0, layers: [], searchMs: 0 };
  if (!mesh) return { ...nothing, findings: readable.findings };
  checkpoint();
  const components = findComponents(mesh);
  const subject = toSubject(mesh, readable, components, input, checkpoint);
  const { guess, findings: ofUnits } = findUnits(subject);
  checkpoint();
  const { findings: ofVertices, seams } = findVertices(subject);
  checkpoint();
  const { components: listed, findings: ofComponents } = describeComponents(subject, components);
  const { mostExcluded = 0, kinematicPairs = 'SKIP' } = input;
  const {
    findings: ofPairs,
    searchMs,
    pairCount,
    ...regions
  } = findIntersectionRegions(subject, { kinematicPairs, mostExcluded, now });
  const lengths = tools.lengthsOf(mesh, restrict(input.positions, readable.x));
  const isRefused = 'code' in lengths;
  const findings = [
    ...readable.findings,
    ...ofUnits,
    ...findTargetMismatch(subject),
    ...findCoarseCoordinates(subject),
    ...(pairCount > mostExcluded ? ofVertices : ofVertices.map(asAccepted)),
    ...findFlippedPanels(subject, seams),
    ...findTopology(subject),
    ...findThinTriangles(subject),
    ...ofPairs,
    ...(isRefused ? [lengths] : findThinGaps(subject, { ...lengths, kinematicPairs }, pairCount === 0)),
    ...(isRefused ? [] : findOverlongTargets(subject, { ...lengths, hasRest: input.mesh.restLengths !== undefined })),
    ...ofComponents,
  ];
  return {
    ...regions,
    findings: findings.sort((a, b) => RANK[a.severity] - RANK[b.severity]),
    components: listed,
    componentCount: components.sizes.length,
    layers: findLayers(subject, components.sizes.length),
    searchMs,
    medianEdge: subject.medianEdge,
    ...(guess ? { metresPerUnit: guess.metresPerUnit } : {}),
    ...(isRefused ? {} : { activationDistance: lengths.activationDistance }),
  };
}

/**
 * Coincident vertices are accepted if they are never tested against each other (kinematic, or in parts that ignore each
 * other), or if their pairs are excluded.
 */
const asAccepted = (one: DiagnosisFinding): DiagnosisFinding =>
  one.severity === 'PROBLEM' ? { ...one, severity: 'WARNING' } : one;

const RANK: { readonly [K in Severity]: number } = { PROBLEM: 0, WARNING: 1, NOTE: 2 };

/** The finite numbers in the scalar type of the caller, whose precision matters. */
const restrict = (positions: Positions, x: Float64Array): Positions =>
  positions instanceof Float32Array ? new Float32Array(x) : x;

function toSubject(
  mesh: CollisionMesh,
  { x, y, isNamed, triangleIds }: Readable,
  { componentOf, names }: { readonly componentOf: Int32Array; readonly names: readonly string[] },
  { positions, maxElements }: DiagnoseInput,
  checkpoint: () => void,
): Subject {
  const lengths = Float64Array.from({ length: mesh.edges.length / 2 }, (_, e) => {
    const [a, b] = [3 * mesh.edges[2 * e], 3 * mesh.edges[2 * e + 1]];
    return Math.hypot(x[a] - x[b], x[a + 1] - x[b + 1], x[a + 2] - x[b + 2]);
  });
  return {
    mesh,
    x,
    y,
    precision: positions instanceof Float32Array ? 2 ** -23 : 2 ** -52,
    medianEdge: medianLength(lengths),
    surface: readSurface(mesh.triangles, mesh.vertexCount),
    isNamed,
    componentOf,
    names,
    triangle: (index): ElementRef => ({
      kind: 'triangle',
      index: triangleIds[index] ?? index,
      vertices: Array.from(mesh.triangles.subarray(3 * index, 3 * index + 3)),
    }),
    maxElements,
    checkpoint,
  };
}
