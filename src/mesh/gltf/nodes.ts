import type { GLTF } from '@gltf-transform/core';
import { IntersticeError } from '../../contract/errors.js';
import { at, refuse } from './damaged.js';

/** Levels of nodes: the library visits them by recursion, and computes the matrix of each from the root on. */
const MAX_DEPTH = 1024;

/** Numbers of each transform of a node. */
const TRANSFORMS = { matrix: 16, translation: 3, rotation: 4, scale: 3 } as const;

/**
 * Cosine between two columns of a matrix from which on it shears. The library keeps translation, rotation and scale, and would
 * move vertices by about this share of their distance; numbers printed with six digits are off by less.
 */
const SHEAR = 1e-5;

/** How far the last row of a matrix may be from 0 0 0 1, the caller's unit: what inverting a matrix leaves there. */
const PROJECTION = 1e-9;

/**
 * Refuses nodes that the library would read in another way than they are meant: a node has at most one parent and a node of a
 * scene none, because it would move to the last that names it; transforms are numbers, and matrices do not shear.
 *
 * @throws IntersticeError MALFORMED_BODY; UNIMPLEMENTED for a matrix that shears or projects
 */
export function checkNodes({ nodes = [], scenes = [], meshes = [], scene }: GLTF.IGLTF): void {
  const parentOf = new Map<number, number>();
  nodes.forEach((node, n) => {
    checkTransforms(node, n);
    const { children = [], mesh } = node;
    if (mesh !== undefined) at(meshes, mesh, `node ${n}`, 'mesh');
    for (const child of children) {
      at(nodes, child, `node ${n}`, 'node');
      const other = parentOf.get(child);
      if (other !== undefined) refuse(`node ${child} is a child of node ${other} and of node ${n}`);
      parentOf.set(child, n);
    }
  });
  if (scene !== undefined) at(scenes, scene, 'the file', 'scene');
  for (const [n, { nodes: roots = [] }] of scenes.entries()) {
    for (const root of roots) {
      at(nodes, root, `scene ${n}`, 'node');
      const parent = parentOf.get(root);
      if (parent !== undefined) refuse(`node ${root} of scene ${n} is a child of node ${parent} as well`);
    }
  }
  checkDepth(nodes.length, parentOf);
}

/** Refuses nodes that lie too deep, among them those in a circle. */
function checkDepth(count: number, parentOf: ReadonlyMap<number, number>): void {
  const depths = new Int32Array(count);
  for (let n = 0; n < count; n++) {
    const path: number[] = [];
    let above: number | undefined = n;
    for (; above !== undefined && depths[above] === 0; above = parentOf.get(above)) {
      path.push(above);
      if (path.length > MAX_DEPTH) refuse(`node ${n} lies more than ${MAX_DEPTH} levels deep, or in a circle`);
    }
    let depth = above === undefined ? 0 : depths[above]!;
    for (const node of path.reverse()) depths[node] = ++depth;
    if (depth > MAX_DEPTH) refuse(`node ${n} lies more than ${MAX_DEPTH} levels deep`);
  }
}

function checkTransforms(node: GLTF.INode, n: number): void {
  for (const [name, length] of Object.entries(TRANSFORMS)) {
    const values: unknown = node[name as keyof typeof TRANSFORMS];
    if (values === undefined) continue;
    if (!Array.isArray(values) || values.length !== length || !values.every(Number.isFinite)) {
      refuse(`the ${name} of node ${n} is not ${length} numbers`);
    }
  }
  if (node.matrix && !isAffine(node.matrix)) {
    throw new IntersticeError(
      'UNIMPLEMENTED',
      `The matrix of node ${n} shears or projects; translation, rotation and scale are read.`,
      { hint: 'Apply the transforms before the export.' },
    );
  }
}

/** Whether a matrix, column by column, consists of a translation, a rotation and a scale. */
function isAffine(m: readonly number[]): boolean {
  const [a, b, c] = [0, 4, 8].map((k) => m.slice(k, k + 3)) as [number[], number[], number[]];
  const isLastRow = [0, 0, 0, 1].every((value, k) => Math.abs(m[4 * k + 3]! - value) <= PROJECTION);
  return isLastRow && !isOblique(a, b) && !isOblique(b, c) && !isOblique(c, a);
}

const isOblique = (u: readonly number[], v: readonly number[]): boolean =>
  Math.abs(u[0]! * v[0]! + u[1]! * v[1]! + u[2]! * v[2]!) > SHEAR * Math.hypot(...u) * Math.hypot(...v);
