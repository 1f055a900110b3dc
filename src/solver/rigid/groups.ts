import { labelComponents } from '../../mesh/connectivity.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { distanceAt } from '../cpu/motion.js';
import { fitTwist, Placement } from './twist.js';

/** The bits of a mask distinguish the groups; one bit is used for elements at rest. */
export const MAX_GROUPS = 5;

/**
 * A component joins a motion if the motion leaves less than this share of the component's own motion, as root mean
 * squares.
 */
const JOINING_SHARE = 1 / 4;

/** Connected components that move rigidly together. */
export interface Group {
  /** uint32[n] ascending */
  readonly vertices: Uint32Array;
  /** uint32[m] the vertices of components that are kinematic as a whole, ascending */
  readonly prescribed: Uint32Array;
}

/** The groups of one request. */
export interface Grouping {
  readonly groups: readonly Group[];
  /** uint8[V] 0 = at rest; n = a vertex of groups[n − 1] */
  readonly label: Uint8Array;
}

/** A component: vertices `order[from]` to `order[to − 1]`, and Σ |y* − x|² over them. */
interface Component {
  readonly vertices: Uint32Array;
  readonly squared: number;
}

/** The connected components of a mesh over all its elements. Vertices of no element belong to none. */
export class Components {
  /** uint32[V'] vertices that belong to an element, component by component, ascending within each */
  readonly #order: Uint32Array;
  /** uint32[C + 1] */
  readonly #from: Uint32Array;

  constructor({ vertexCount, edges, innerEdges, contactVertices, tetrahedra }: CollisionMesh) {
    const label = labelComponents(
      [
        [edges, 2],
        [innerEdges, 2],
      ],
      vertexCount,
    );
    const isUsed = new Uint8Array(vertexCount);
    for (const v of contactVertices) isUsed[v] = 1;
    for (const v of tetrahedra) isUsed[v] = 1;
    const sizes = new Uint32Array(vertexCount);
    let used = 0;
    for (let v = 0; v < vertexCount; v++) {
      sizes[label[v]] += isUsed[v];
      used += isUsed[v];
    }
    const place = new Uint32Array(vertexCount);
    const from: number[] = [0];
    for (let root = 0, at = 0; root < vertexCount; root++) {
      if (sizes[root] === 0) continue;
      place[root] = at;
      at += sizes[root];
      from.push(at);
    }
    this.#order = new Uint32Array(used);
    this.#from = Uint32Array.from(from);
    for (let v = 0; v < vertexCount; v++) if (isUsed[v] === 1) this.#order[place[label[v]]++] = v;
  }

  get bytes(): number {
    return this.#order.byteLength + this.#from.byteLength;
  }

  /**
   * Begins with the component of the largest Σ |y* − x|² and adds the components that move like it. A component that
   * moves by less than a leap stays at rest. So does one for which even its own best rigid motion leaves more than a
   * quarter of its displacement: it deforms rather than moves. A component with a fixed vertex stays at rest, because a
   * rigid motion would move that vertex.
   *
   * @param leap engine units
   * @param off engine units: how far a motion may take a kinematic vertex that rests, with its place as its target
   */
  group(mesh: CollisionMesh, x: Float32Array, target: Float32Array, leap: number, off = leap / 2): Grouping {
    const label = new Uint8Array(mesh.vertexCount);
    const groups: Group[] = [];
    const open = this.#moving(x, target, leap).filter(({ vertices }) => !hasFixed(mesh, vertices));
    for (let n = 0; n < open.length && groups.length < MAX_GROUPS; n++) {
      const seed = open[n];
      if (label[seed.vertices[0]] !== 0 || rms(seed) <= leap) continue;
      const first = new Placement(fitTwist(seed.vertices, x, target));
      if (!follows(mesh, seed, first, x, target, leap, off)) continue;
      const members = open.filter(
        (component) =>
          component === seed ||
          (label[component.vertices[0]] === 0 && follows(mesh, component, first, x, target, leap, off)),
      );
      const refit = new Placement(fitTwist(joined(members), x, target));
      const kept = members.filter((component) => follows(mesh, component, refit, x, target, leap, off));
      if (!kept.includes(seed)) continue;
      const vertices = joined(kept).sort();
      for (const v of vertices) label[v] = groups.length + 1;
      const bodies = kept.filter((component) => component.vertices.every((v) => mesh.kinematic[v] !== 0));
      groups.push({ vertices, prescribed: joined(bodies).sort() });
    }
    return { groups, label };
  }

  /** Returns the components that move, largest Σ |y* − x|² first; none if no vertex moves by a leap. */
  #moving(x: Float32Array, target: Float32Array, leap: number): Component[] {
    if (!movesBy(x, target, leap)) return [];
    const moving: Component[] = [];
    for (let c = 0; c + 1 < this.#from.length; c++) {
      const vertices = this.#order.subarray(this.#from[c], this.#from[c + 1]);
      let squared = 0;
      for (const v of vertices) squared += distanceAt(x, target, 3 * v) ** 2;
      if (squared > 0) moving.push({ vertices, squared });
    }
    // A stable sort: equal sums stay in the order of their vertices.
    return moving.sort((a, b) => b.squared - a.squared);
  }
}

function movesBy(x: Float32Array, target: Float32Array, leap: number): boolean {
  for (let k = 0; k < x.length; k += 3) if (distanceAt(x, target, k) > leap) return true;
  return false;
}

/** Whether one of the vertices is fixed (CollisionMesh.inverseMasses). */
const hasFixed = ({ inverseMasses, kinematic }: CollisionMesh, vertices: Uint32Array): boolean =>
  vertices.some((v) => inverseMasses[v] === 0 && kinematic[v] === 0);

const rms = ({ vertices, squared }: Component): number => Math.sqrt(squared / vertices.length);

const image = new Float64Array(3);

/**
 * Whether the motion leaves less than a quarter of a component's displacement, and moves no kinematic vertex farther
 * than half a leap from its target, or farther than it is now, and none that rests farther than `off`. Kinematic
 * vertices, above all pinned ones, must not be moved away from their targets.
 */
function follows(
  { kinematic }: CollisionMesh,
  { vertices, squared }: Component,
  placement: Placement,
  x: Float32Array,
  target: Float32Array,
  leap: number,
  off: number,
): boolean {
  const most = JOINING_SHARE * JOINING_SHARE * squared;
  let left = 0;
  for (const v of vertices) {
    const k = 3 * v;
    placement.at(x, k, image);
    const dx = target[k] - image[0];
    const dy = target[k + 1] - image[1];
    const dz = target[k + 2] - image[2];
    const distance = dx * dx + dy * dy + dz * dz;
    left += distance;
    if (left >= most) return false;
    if (kinematic[v] === 0) continue;
    const before = distanceAt(x, target, k);
    if (distance > (before === 0 ? off : Math.max(leap / 2, before)) ** 2) return false;
  }
  return true;
}

function joined(components: readonly Component[]): Uint32Array {
  const all = new Uint32Array(components.reduce((sum, { vertices }) => sum + vertices.length, 0));
  let at = 0;
  for (const { vertices } of components) {
    all.set(vertices, at);
    at += vertices.length;
  }
  return all;
}
