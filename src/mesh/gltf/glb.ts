import { Document, Logger, type mat4, type Primitive, WebIO } from '@gltf-transform/core';
import { IntersticeError } from '../../contract/errors.js';
import type { MeshFile } from '../files/types.js';
import { isIdentity, isMirrored, listBlocks, sceneOf } from './scene.js';
import { hasTriangles, visitTriangles } from './triangles.js';

/** glTF documents with the positions of an answer, and their bytes; runs in browsers. */

/** Makes a document that contains only the mesh. */
export function newDocument({
  positions,
  triangles,
  segments,
  particles,
}: Pick<MeshFile, 'positions' | 'triangles' | 'segments' | 'particles'>): Document {
  const document = new Document();
  const buffer = document.createBuffer();
  const accessor = document.createAccessor().setType('VEC3').setArray(Float32Array.from(positions)).setBuffer(buffer);
  const mesh = document.createMesh('mesh');
  for (const [mode, ids] of [
    [4, triangles],
    [1, segments],
    [0, particles],
  ] as const) {
    if (ids.length === 0) continue;
    const indices = document.createAccessor().setType('SCALAR').setArray(Uint32Array.from(ids)).setBuffer(buffer);
    mesh.addPrimitive(document.createPrimitive().setMode(mode).setAttribute('POSITION', accessor).setIndices(indices));
  }
  document.createScene().addChild(document.createNode('mesh').setMesh(mesh));
  return document;
}

/**
 * Moves a mesh to new positions: the mesh of a node with a transform moves to a new node of the scene without one, and
 * its normals and tangents are transformed; under one that mirrors its triangles are reversed. Morph targets and
 * animations, which would move vertices again, are removed.
 *
 * @param positions float32[3·V], in the order of {@link listBlocks}
 * @param name of the file, for the error
 * @throws IntersticeError SIZE_MISMATCH for a document with other vertices
 */
export function replacePositions(document: Document, positions: Float32Array, name: string): void {
  const blocks = listBlocks(document);
  const last = blocks.at(-1);
  if ((last ? last.firstVertex + last.vertexCount : 0) !== positions.length / 3) {
    throw new IntersticeError('SIZE_MISMATCH', `${name} has changed since it was read.`);
  }
  for (const animation of document.getRoot().listAnimations()) animation.dispose();
  const scene = sceneOf(document);
  for (const node of new Set(blocks.map((block) => block.node))) {
    const old = node.getMesh()!;
    const matrix = node.getWorldMatrix();
    const isMoved = !isIdentity(matrix);
    // Other nodes may use the same mesh at other places.
    const mesh = document.createMesh(old.getName()).setExtras(withoutMorphs(old.getExtras()));
    const ownBlocks = blocks.filter((block) => block.node === node);
    for (const primitive of old.listPrimitives()) {
      const block = ownBlocks.find(({ primitives }) => primitives.includes(primitive))!;
      const { accessor, firstVertex } = block;
      const array = positions.slice(3 * firstVertex, 3 * (firstVertex + block.vertexCount));
      const copy = primitive.clone().setAttribute('POSITION', accessor.clone().setNormalized(false).setArray(array));
      for (const target of copy.listTargets()) copy.removeTarget(target);
      if (isMoved) turnDirections(copy, matrix);
      if (isMirrored(matrix)) reverseTriangles(document, copy, block.vertexCount);
      mesh.addPrimitive(copy);
    }
    if (isMoved) scene.addChild(document.createNode(node.getName()).setMesh(mesh));
    node.setMesh(isMoved ? null : mesh).setWeights([]);
  }
  removeUnused(document);
}

function withoutMorphs(extras: Record<string, unknown>): Record<string, unknown> {
  const { targetNames: _, ...rest } = extras;
  return rest;
}

/**
 * Transforms normals by the matrix of cofactors, the inverse transpose up to a factor; tangents like differences of
 * positions.
 */
function turnDirections(primitive: Primitive, m: mat4): void {
  const column = (i: number): number[] => [m[4 * i]!, m[4 * i + 1]!, m[4 * i + 2]!];
  const [a, b, c] = [column(0), column(1), column(2)] as [number[], number[], number[]];
  const cofactors = [cross(b, c), cross(c, a), cross(a, b)];
  // Triangles of a mirrored mesh are reversed; its normals point to the same side of the surface.
  const side = isMirrored(m) ? -1 : 1;
  for (const { name, columns, sign } of [
    { name: 'NORMAL', columns: cofactors, sign: side },
    { name: 'TANGENT', columns: [a, b, c], sign: 1 },
  ]) {
    const accessor = primitive.getAttribute(name);
    if (!accessor) continue;
    const copy = accessor.clone();
    const width = copy.getElementSize();
    const array = new Float32Array(width * accessor.getCount());
    const element: number[] = [];
    for (let i = 0; i < accessor.getCount(); i++) {
      accessor.getElement(i, element);
      const turned = [0, 1, 2].map((axis) => columns.reduce((sum, own, j) => sum + sign * own[axis]! * element[j]!, 0));
      const length = Math.hypot(...turned) || 1;
      array.set([...turned.map((value) => value / length), ...element.slice(3)], width * i);
    }
    primitive.setAttribute(name, copy.setNormalized(false).setArray(array));
  }
}

const cross = (u: readonly number[], v: readonly number[]): number[] => [
  u[1]! * v[2]! - u[2]! * v[1]!,
  u[2]! * v[0]! - u[0]! * v[2]!,
  u[0]! * v[1]! - u[1]! * v[0]!,
];

/** Replaces the triangles of a primitive by a list of the same triangles with the other orientation. */
function reverseTriangles(document: Document, primitive: Primitive, vertexCount: number): void {
  if (!hasTriangles(primitive)) return;
  const indices = primitive.getIndices();
  const at = (corner: number): number => (indices ? indices.getScalar(corner) : corner);
  const reversed: number[] = [];
  visitTriangles(primitive, indices?.getCount() ?? vertexCount, at, (a, b, c) => {
    reversed.push(a, c, b);
  });
  // The format has no empty accessors, and triangles that are none have no orientation.
  if (reversed.length === 0) return;
  primitive.setMode(4).setIndices(document.createAccessor().setType('SCALAR').setArray(Uint32Array.from(reversed)));
}

/** Removes meshes without a node, and everything that only they used. */
function removeUnused(document: Document): void {
  const root = document.getRoot();
  const isUnused = (property: { listParents(): { propertyType: string }[] }): boolean =>
    property.listParents().every(({ propertyType }) => propertyType === 'Root');
  for (const mesh of root.listMeshes()) {
    if (!isUnused(mesh)) continue;
    for (const primitive of mesh.listPrimitives()) {
      for (const target of primitive.listTargets()) target.dispose();
      primitive.dispose();
    }
    mesh.dispose();
  }
  for (const accessor of root.listAccessors()) if (isUnused(accessor)) accessor.dispose();
}

/** Returns a document as the bytes of a .glb file, which has one buffer. */
export function toGlb(document: Document): Promise<Uint8Array<ArrayBuffer>> {
  const root = document.getRoot();
  const [first = document.createBuffer(), ...others] = root.listBuffers();
  for (const accessor of root.listAccessors()) accessor.setBuffer(first);
  for (const buffer of others) buffer.dispose();
  return new WebIO().setLogger(new Logger(Logger.Verbosity.SILENT)).writeBinary(document) as Promise<
    Uint8Array<ArrayBuffer>
  >;
}
