import type { Warning } from '../contract/errors.js';
import type { MeshInput, MeshLimits } from '../contract/mesh.js';
import { addBoundaryFaces, collectEdges, countComponents } from './connectivity.js';
import { copyElements } from './elements.js';
import { checkSizes } from './limits.js';
import { readRestLengths } from './rest-lengths.js';
import { readStrainShapes } from './strain.js';
import type { CollisionMesh } from './types.js';
import {
  assignParts,
  checkFlags,
  checkParts,
  invertMasses,
  nameVertex,
  readIgnoredPartPairs,
  readKinematic,
} from './vertex-data.js';

/**
 * Turns a caller's topology into a collision mesh, which contains every vertex, edge and triangle that can touch
 * something exactly once. The caller's arrays are neither kept nor changed. Linear in the number of elements.
 *
 * @param limits checked before anything of the requested size is allocated
 * @throws IntersticeError TOO_LARGE (demand and limit), SIZE_MISMATCH (lengths), INDEX_OUT_OF_RANGE (ids), NOT_FINITE
 *   (masses), INVALID_MESH (no vertices or elements, repeated vertices or elements, non-manifold solids, parts); for
 *   lengths and shapes at rest see there); the error names the element at fault in the caller's numbering
 */
export function buildMesh(input: MeshInput, limits?: MeshLimits): CollisionMesh {
  checkSizes(input, limits);
  const { vertexCount } = input;
  const parts = input.parts ?? [];
  checkParts(parts, vertexCount);
  const ignoredPartPairs = readIgnoredPartPairs(input.ignoredPartPairs, parts.length);
  const sentTriangles = copyElements(input.triangles, 'triangle', vertexCount);
  const segments = copyElements(input.segments, 'segment', vertexCount);
  const sentParticles = copyElements(input.particles, 'particle', vertexCount);
  const tetrahedra = copyElements(input.tetrahedra, 'tetrahedron', vertexCount);
  if (input.kinematic) checkFlags(input.kinematic);
  const kinematic = readKinematic(input);
  const partOfVertex = assignParts(parts, vertexCount);
  const strain = readStrainShapes(input, sentTriangles, tetrahedra);

  const triangles = addBoundaryFaces(sentTriangles, tetrahedra, vertexCount);
  const { edges, rodStart, innerEdges } = collectEdges(triangles, segments, tetrahedra, vertexCount);
  const restLengths = readRestLengths(input, edges, innerEdges);
  // Every vertex of a contact triangle is on an edge, so vertices of edges and particles are all that can touch.
  const canTouch = mark(new Uint8Array(vertexCount), edges);
  const isUsed = mark(canTouch.slice(), tetrahedra);
  const particles = sentParticles.filter((vertex) => isUsed[vertex] === 0).sort();
  const particleWarnings = warnOfParticles(sentParticles, isUsed);
  mark(canTouch, particles);
  mark(isUsed, particles);

  return Object.freeze({
    vertexCount,
    triangles,
    edges,
    rodStart,
    particles,
    contactVertices: listMarked(canTouch),
    innerEdges,
    tetrahedra,
    inverseMasses: invertMasses(input.masses, kinematic),
    kinematic,
    parts: parts.map(({ name, firstVertex, vertexCount, activationDistance, contactOffset }) => ({
      name,
      firstVertex,
      vertexCount,
      ...(activationDistance === undefined ? {} : { activationDistance }),
      ...(contactOffset === undefined ? {} : { contactOffset }),
    })),
    partOfVertex,
    ignoredPartPairs,
    ...(strain ? { strain } : {}),
    ...(restLengths ? { restLengths } : {}),
    sent: {
      triangles: sentTriangles.length / 3,
      segments: segments.length / 2,
      particles: sentParticles.length,
      tetrahedra: tetrahedra.length / 4,
    },
    components: countComponents(
      [
        [edges, 2],
        [particles, 1],
        [tetrahedra, 4],
      ],
      isUsed,
    ),
    warnings: [...particleWarnings, ...warnOfUnused(isUsed)],
  });
}

function mark(marks: Uint8Array, vertices: Uint32Array): Uint8Array {
  for (let i = 0; i < vertices.length; i++) marks[vertices[i]!] = 1;
  return marks;
}

/** Returns uint32, ascending: the vertices whose mark is set. */
function listMarked(marks: Uint8Array): Uint32Array {
  const vertices = new Uint32Array(marks.length);
  let end = 0;
  for (let vertex = 0; vertex < marks.length; vertex++) if (marks[vertex] === 1) vertices[end++] = vertex;
  return vertices.slice(0, end);
}

/** Warns of vertices without elements, which move to their targets unchecked, as the caller may not expect. */
function warnOfUnused(isUsed: Uint8Array): Warning[] {
  let count = 0;
  for (let vertex = 0; vertex < isUsed.length; vertex++) count += 1 - isUsed[vertex]!;
  if (count === 0) return [];
  const first = isUsed.indexOf(0);
  return [
    {
      code: 'UNUSED_VERTICES',
      message: `${count} of ${isUsed.length} vertices belong to no element, the first of them vertex ${first}. Nothing collides with them.`,
      element: nameVertex(first),
      count,
    },
  ];
}

/** @param isUsed uint8[V], 1 = the vertex is in an element other than a particle */
function warnOfParticles(sent: Uint32Array, isUsed: Uint8Array): Warning[] {
  let count = 0;
  for (let i = 0; i < sent.length; i++) count += isUsed[sent[i]!]!;
  if (count === 0) return [];
  const index = sent.findIndex((vertex) => isUsed[vertex] === 1);
  const vertex = sent[index]!;
  return [
    {
      code: 'PARTICLES_IN_ELEMENTS',
      message: `${count} of ${sent.length} particles are vertices of other elements, the first of them particle ${index} (vertex ${vertex}). They have no effect.`,
      element: { kind: 'particle', index, vertices: [vertex] },
      count,
    },
  ];
}
