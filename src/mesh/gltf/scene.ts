import type { Accessor, Document, mat4, Node, Primitive, Scene } from '@gltf-transform/core';
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
 * @throws UNIMPLEMENTED for a skin, INVALID_MESH for a primitive without positions
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
        blocks.push({ node, primitives, accessor, firstVertex, vertexCount, matrix: node.getWorldMatrix() });
        firstVertex += vertexCount;
      }
    }
  });
  return blocks;
}

function haveSameTargets(a: Primitive, b: Primitive): boolean {
  const [targetsA, targetsB] = [a.listTargets(), b.listTargets()];
  return (
    targetsA.length === targetsB.length &&
    targetsA.every((target, i) => target.getAttribute('POSITION') === targetsB[i]!.getAttribute('POSITION'))
  );
}
