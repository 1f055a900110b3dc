import type { Document, Node, Primitive } from '@gltf-transform/core';
import { IntersticeError } from '../../contract/errors.js';
import type { MeshLimits } from '../../contract/mesh.js';
import type { MeshFile } from '../files/types.js';
import { assertWithinLimits } from '../limits.js';
import { checkPositions } from '../positions.js';
import { type GltfBlock, isIdentity, isMirrored, listBlocks } from './scene.js';
import type { GltfSource } from './source.js';
import { hasTriangles, visitTriangles } from './triangles.js';

/** A glTF file with the files that it refers to, and the extensions of the file that the document does not contain. */
export interface OpenedGltf {
  readonly document: Document;
  readonly extensions: readonly string[];
}

/**
 * The meshes of the scene of a glTF file as one: vertices in the order of nodes and primitives, where the transforms of
 * the nodes put them. Morph targets have the weights of the file; with `morph` that one has weight 1 and all others 0.
 *
 * Positions are float32, as in the format. A transform and weights are applied in double precision and rounded once;
 * without either the numbers are those of the file. Triangles under a transform that mirrors are reversed, so that all
 * have their front where their corners are in counterclockwise order.
 *
 * @param path the origin of the mesh, for messages
 * @param morph name of a morph target, or its number from 0
 * @throws IntersticeError MALFORMED_BODY, INVALID_MESH, INDEX_OUT_OF_RANGE, NOT_FINITE, TOO_LARGE or UNIMPLEMENTED
 */
export function meshOfGltf(
  path: string,
  { document, extensions }: OpenedGltf,
  morph: string | undefined,
  limits?: MeshLimits,
): MeshFile {
  const blocks = listBlocks(document);
  if (morph !== undefined) assertMorph(blocks, morph);
  const vertexCount = blocks.reduce((sum, block) => sum + block.vertexCount, 0);
  assertWithinLimits(vertexCount, 0, limits);
  const positions = new Float32Array(3 * vertexCount);
  // More ids than an array holds would end the process, so they are counted before they are collected.
  assertWithinLimits(
    vertexCount,
    blocks.reduce((sum, block) => sum + countElements(block), 0),
    limits,
  );
  const elements: Elements = { triangles: [], segments: [], particles: [] };
  for (const block of blocks) {
    writePositions(block, morph, positions);
    for (const primitive of block.primitives) addElements(primitive, block, elements);
  }
  checkPositions(positions, vertexCount, 'POSITION');
  const [triangles, segments, particles] = [elements.triangles, elements.segments, elements.particles].map((ids) =>
    Uint32Array.from(ids),
  ) as [Uint32Array, Uint32Array, Uint32Array];
  return {
    format: 'ply',
    scalar: 'FLOAT32',
    vertexCount,
    positions,
    triangles,
    segments,
    particles,
    faceSizes: new Uint32Array(triangles.length / 3).fill(3),
    faceVertices: triangles,
    gltf: describe(path, document.getRoot().listAnimations().length, blocks, extensions),
  };
}

interface Elements {
  readonly triangles: number[];
  readonly segments: number[];
  readonly particles: number[];
}

/** Names of the morph targets of a primitive; exporters put them into the extras of the mesh. */
function morphNames(node: Node, primitive: Primitive): string[] {
  const { targetNames } = (node.getMesh()?.getExtras() ?? {}) as { targetNames?: unknown };
  const names = Array.isArray(targetNames) ? targetNames : [];
  return primitive.listTargets().map((target, i) => String(names[i] ?? target.getName()));
}

/** Number of the morph target among those of the primitive; -1 without one of this name. */
function indexOfMorph(node: Node, primitive: Primitive, morph: string): number {
  const names = morphNames(node, primitive);
  const index = names.indexOf(morph);
  return index < 0 && /^\d+$/.test(morph) && Number(morph) < names.length ? Number(morph) : index;
}

/** Names of all morph targets of the scene, each once, in the order of the file. */
export const listMorphs = (document: Document): string[] => morphsOf(listBlocks(document));

const morphsOf = (blocks: readonly GltfBlock[]): string[] => [
  ...new Set(blocks.flatMap(({ node, primitives }) => primitives.flatMap((primitive) => morphNames(node, primitive)))),
];

function assertMorph(blocks: readonly GltfBlock[], morph: string): void {
  const all = blocks.flatMap(({ node, primitives }) => primitives.map((primitive) => ({ node, primitive })));
  if (all.some(({ node, primitive }) => indexOfMorph(node, primitive, morph) >= 0)) return;
  const names = morphsOf(blocks);
  throw new IntersticeError('INVALID_MESH', `The file has no morph target "${morph}".`, {
    hint:
      names.length > 0 ? `It has ${names.map((name) => `"${name}"`).join(', ')}.` : 'It has no morph targets at all.',
  });
}

function writePositions(
  { node, primitives, accessor, firstVertex, vertexCount, matrix }: GltfBlock,
  morph: string | undefined,
  positions: Float32Array,
): void {
  const primitive = primitives[0]!;
  const chosen = morph === undefined ? -1 : indexOfMorph(node, primitive, morph);
  const ownWeights = node.getWeights();
  const weights = ownWeights.length > 0 ? ownWeights : (node.getMesh()?.getWeights() ?? []);
  const shifts = primitive.listTargets().flatMap((target, i) => {
    const weight = morph === undefined ? (weights[i] ?? 0) : Number(i === chosen);
    const shift = target.getAttribute('POSITION');
    if (weight === 0 || !shift) return [];
    if (shift.getCount() === vertexCount) return [{ weight, shift }];
    throw new IntersticeError('SIZE_MISMATCH', `A morph target of "${node.getName()}" has another number of vertices.`);
  });
  const isMoved = !isIdentity(matrix);
  const [point, offset]: number[][] = [[], []];
  for (let vertex = 0; vertex < vertexCount; vertex++) {
    accessor.getElement(vertex, point!);
    for (const { weight, shift } of shifts) {
      shift.getElement(vertex, offset!);
      for (let axis = 0; axis < 3; axis++) point![axis]! += weight * offset![axis]!;
    }
    const [x, y, z] = point as [number, number, number];
    for (let axis = 0; axis < 3; axis++) {
      const value = isMoved
        ? matrix[axis]! * x + matrix[4 + axis]! * y + matrix[8 + axis]! * z + matrix[12 + axis]!
        : point![axis]!;
      positions[3 * (firstVertex + vertex) + axis] = value;
    }
  }
}

const POINTS = 0;
const LINES = 1;
const LINE_LOOP = 2;
const LINE_STRIP = 3;
const TRIANGLES = 4;

/** Elements of the primitives of a block, at most: strips may hold fewer. */
function countElements({ primitives, vertexCount }: GltfBlock): number {
  return primitives.reduce((sum, primitive) => {
    const count = primitive.getIndices()?.getCount() ?? vertexCount;
    const mode = primitive.getMode() as number;
    return sum + (mode === LINES ? count / 2 : mode === TRIANGLES ? count / 3 : count);
  }, 0);
}

function addElements(primitive: Primitive, { firstVertex, vertexCount, matrix }: GltfBlock, elements: Elements): void {
  const indices = primitive.getIndices();
  const count = indices?.getCount() ?? vertexCount;
  const at = (i: number): number => {
    const vertex = indices ? indices.getScalar(i) : i;
    if (vertex < vertexCount) return firstVertex + vertex;
    throw new IntersticeError(
      'INDEX_OUT_OF_RANGE',
      `An index is ${vertex}; its primitive has ${vertexCount} vertices.`,
    );
  };
  const { triangles, segments, particles } = elements;
  const mode = primitive.getMode() as number;
  if (mode === POINTS) for (let i = 0; i < count; i++) particles.push(at(i));
  else if (mode === LINES) {
    if (count % 2 !== 0) throw new IntersticeError('INVALID_MESH', `A primitive of lines has ${count} ends.`);
    for (let i = 0; i < count; i += 2) segments.push(at(i), at(i + 1));
  } else if (mode === LINE_STRIP || mode === LINE_LOOP) {
    for (let i = 0; i + 1 < count; i++) segments.push(at(i), at(i + 1));
    if (mode === LINE_LOOP && count > 2) segments.push(at(count - 1), at(0));
  } else if (hasTriangles(primitive)) {
    if (mode === TRIANGLES && count % 3 !== 0) {
      throw new IntersticeError('INVALID_MESH', `A primitive of triangles has ${count} corners.`);
    }
    const mirrored = isMirrored(matrix);
    visitTriangles(primitive, count, at, (a, b, c) => {
      triangles.push(a, mirrored ? c : b, mirrored ? b : c);
    });
  } else throw new IntersticeError('INVALID_MESH', `A primitive has the unknown mode ${mode}.`);
}

function describe(
  path: string,
  animations: number,
  blocks: readonly GltfBlock[],
  extensions: readonly string[],
): GltfSource {
  const primitives = blocks.flatMap((block) => block.primitives);
  const hasMorphs = primitives.some((primitive) => primitive.listTargets().length > 0);
  const attributes = new Set(primitives.flatMap((primitive) => primitive.listSemantics()));
  attributes.delete('POSITION');
  return {
    path,
    lostAsGltf: [
      ...(hasMorphs ? ['morph targets'] : []),
      ...(animations > 0 ? ['animations'] : []),
      ...extensions.map((name) => `the extension ${name}`),
    ],
    names: [...attributes, ...(primitives.some((primitive) => primitive.getMaterial()) ? ['materials'] : []), 'nodes'],
  };
}
