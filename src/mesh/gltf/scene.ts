import type { Accessor, Document, mat4, Node, Primitive, Scene, vec4 } from '@gltf-transform/core';
import { IntersticeError } from '../../contract/errors.js';

/** Vertices of one accessor under one node, in the order of the file; they are consecutive in the mesh. */
export interface GltfBlock {
  readonly node: Node;
  /** those that share the vertices */
  readonly primitives: readonly Primitive[];
  readonly accessor: Accessor;
  readonly firstVertex: number;
  readonly vertexCount: number;
  /** of the node in the scene, column by column */
  readonly matrix: mat4;
}

const IDENTITY: readonly number[] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
export const isIdentity = (matrix: mat4): boolean => IDENTITY.every((value, i) => matrix[i] === value);

/**
 * Whether a matrix has a negative determinant: the front of a triangle is then the side from which its corners are in
 * clockwise order (section 3.7.4 of the specification of glTF 2.0).
 */
export function isMirrored(m: mat4): boolean {
  const [a, b, c] = [m.slice(0, 3), m.slice(4, 7), m.slice(8, 11)] as [number[], number[], number[]];
  const minor = (i: number, j: number): number => b[i]! * c[j]! - b[j]! * c[i]!;
  return a[0]! * minor(1, 2) + a[1]! * minor(2, 0) + a[2]! * minor(0, 1) < 0;
}

/** The scene that a viewer shows: the default one, else the first. @throws INVALID_MESH */
export function sceneOf(document: Document): Scene {
  const root = document.getRoot();
  const scene = root.getDefaultScene() ?? root.listScenes()[0];
  if (scene) return scene;
  throw new IntersticeError('INVALID_MESH', 'The glTF file has no scene.', { hint: 'Export it with a scene.' });
}

/**
 * The blocks of a scene: nodes depth first, primitives in their order. Primitives of a node that share their positions,
 * and those of their morph targets, share the vertices.
 *
 * @throws UNIMPLEMENTED for a skin or a matrix that flattens, MALFORMED_BODY for a rotation that is none, INVALID_MESH for a
 *   primitive without positions
 */
export function listBlocks(document: Document): GltfBlock[] {
  const blocks: GltfBlock[] = [];
  let firstVertex = 0;
  sceneOf(document).traverse((node) => {
    const mesh = node.getMesh();
    if (!mesh) return;
    if (node.getSkin()) {
      throw new IntersticeError('UNIMPLEMENTED', `The node "${node.getName()}" has a skin, which is not applied.`, {
        hint: 'Export the posed mesh: apply the armature before the export, or bake it into morph targets.',
      });
    }
    const matrix = matrixOf(node);
    const groups = new Map<Accessor, Primitive[][]>();
    for (const primitive of mesh.listPrimitives()) {
      const accessor = primitive.getAttribute('POSITION');
      if (!accessor) throw new IntersticeError('INVALID_MESH', `A primitive of "${mesh.getName()}" has no POSITION.`);
      const known = groups.get(accessor) ?? [];
      groups.set(accessor, known);
      const equal = known.find(([first]) => haveSameTargets(first!, primitive));
      if (equal) equal.push(primitive);
      else known.push([primitive]);
    }
    for (const [accessor, lists] of groups) {
      for (const primitives of lists) {
        const vertexCount = accessor.getCount();
        blocks.push({ node, primitives, accessor, firstVertex, vertexCount, matrix });
        firstVertex += vertexCount;
      }
    }
  });
  return blocks;
}

/**
 * Difference of the squared length of a quaternion from 1 up to which it is used as it is: it moves vertices by about this
 * share of their distance. Single precision and six digits are off by less.
 */
const UNIT = 1e-5;

/** The same up to which a quaternion is one that was printed with two digits, and is normalized. */
const ROUNDED = 0.02;

/** The matrix of a node in the scene. The library inserts a quaternion of any length, which would scale and shear. */
function matrixOf(node: Node): mat4 {
  for (let above: Node | null = node; above; above = above.getParentNode()) normalizeRotation(above);
  const matrix = node.getWorldMatrix();
  if (matrix.every(Number.isFinite)) return matrix;
  // The library divides the columns of a matrix by their lengths.
  throw new IntersticeError(
    'UNIMPLEMENTED',
    `A matrix of the node "${node.getName()}", or of one above it, scales to zero along an axis, which is not read.`,
    { hint: 'Apply the transforms before the export.' },
  );
}

function normalizeRotation(node: Node): void {
  const rotation = node.getRotation();
  const square = rotation.reduce((sum, value) => sum + value * value, 0);
  if (Math.abs(square - 1) <= UNIT) return;
  if (Math.abs(square - 1) > ROUNDED) {
    const message = `The rotation of the node "${node.getName()}" is no unit quaternion: its length is ${Math.sqrt(square)}.`;
    throw new IntersticeError('MALFORMED_BODY', message, { hint: 'Export the file again.' });
  }
  node.setRotation(rotation.map((value) => value / Math.sqrt(square)) as vec4);
}

function haveSameTargets(a: Primitive, b: Primitive): boolean {
  const [targetsA, targetsB] = [a.listTargets(), b.listTargets()];
  return (
    targetsA.length === targetsB.length &&
    targetsA.every((target, i) => target.getAttribute('POSITION') === targetsB[i]!.getAttribute('POSITION'))
  );
}
