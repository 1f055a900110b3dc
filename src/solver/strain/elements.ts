import { NO_CORNER, type StrainShapes } from '../../mesh/strain.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { symmetricEigen } from './symmetric-eigen.js';

/**
 * The elements with strain limits that can move, in the order of a sweep: colour by colour, no two of a colour share a
 * vertex that moves. Both engines sweep these arrays.
 */
export interface StrainElements {
  readonly count: number;
  /** uint32[4·N] corners; {@link NO_CORNER} instead of the fourth of a triangle */
  readonly corners: Uint32Array;
  /** float32[9·N] b_1, b_2, b_3 per engine unit */
  readonly gradients: Float32Array;
  /**
   * float32[4·N] s_min (0 = none), s_max (infinity = none), κ and ℓ: the largest eigenvalue of K = Σ_k w_k b_k b_kᵀ,
   * per squared engine unit, and the length, engine units, that turns a strain into one: √(2 area), ∛(6 volume)
   */
  readonly limits: Float32Array;
  /** uint32[V] component of elements that share movable vertices; {@link NO_CORNER} = the vertex belongs to none */
  readonly componentOf: Uint32Array;
  readonly components: number;
  /** uint32[N] component of its movable corners */
  readonly componentOfElement: Uint32Array;
  /** elements offsets[c] … offsets[c + 1] − 1 have colour c */
  readonly offsets: Uint32Array;
}

const known = new WeakMap<CollisionMesh, { readonly scale: number; readonly elements: StrainElements | undefined }>();

/** The same, built once per mesh: its requests have one scale unless the caller's unit changes. */
export function strainElementsOf(mesh: CollisionMesh, scale: number): StrainElements | undefined {
  if (!mesh.strain) return undefined;
  const last = known.get(mesh);
  if (last?.scale === scale) return last.elements;
  const elements = strainElements(mesh, scale);
  known.set(mesh, { scale, elements });
  return elements;
}

/** @param scale engine units per caller's unit */
export function strainElements(
  { strain, inverseMasses }: Pick<CollisionMesh, 'strain' | 'inverseMasses'>,
  scale: number,
): StrainElements | undefined {
  if (!strain) return undefined;
  const movable = listMovable(strain, inverseMasses);
  if (movable.length === 0) return undefined;
  const { order, offsets } = colourElements(strain.corners, movable, inverseMasses);
  const count = order.length;
  const corners = new Uint32Array(4 * count);
  const gradients = new Float32Array(9 * count);
  const limits = new Float32Array(4 * count);
  order.forEach((e, n) => {
    corners.set(strain.corners.subarray(4 * e, 4 * e + 4), 4 * n);
    for (let k = 0; k < 9; k++) gradients[9 * n + k] = strain.gradients[9 * e + k]! / scale;
    const k = stiffness(corners.subarray(4 * n, 4 * n + 4), gradients.subarray(9 * n, 9 * n + 9), inverseMasses);
    limits.set(
      [strain.least[e]!, strain.most[e]!, k, lengthOf(gradients.subarray(9 * n, 9 * n + 9), corners[4 * n + 3]!)],
      4 * n,
    );
  });
  const connected = connect(corners, inverseMasses);
  const componentOfElement = new Uint32Array(count);
  for (let e = 0; e < count; e++) {
    const first = own(corners, e).find((v) => inverseMasses[v]! > 0)!;
    componentOfElement[e] = connected.componentOf[first]!;
  }
  return { count, corners, gradients, limits, ...connected, componentOfElement, offsets };
}

function listMovable({ corners }: StrainShapes, inverseMasses: Float32Array): number[] {
  const movable: number[] = [];
  for (let e = 0; e < corners.length / 4; e++) {
    if (own(corners, e).some((v) => inverseMasses[v]! > 0)) movable.push(e);
  }
  return movable;
}

function own(corners: Uint32Array, e: number): Uint32Array {
  return corners.subarray(4 * e, corners[4 * e + 3] === NO_CORNER ? 4 * e + 3 : 4 * e + 4);
}

/** Greedy, in index order, with the smallest colour that no element at any of its movable vertices has. */
function colourElements(corners: Uint32Array, elements: readonly number[], inverseMasses: Float32Array) {
  // Colours used at a vertex, 32 per word; more words if a vertex has more elements.
  let words = 1;
  let used = new Uint32Array(inverseMasses.length);
  const colour = new Uint32Array(elements.length);
  let colours = 0;
  elements.forEach((e, n) => {
    const vertices = own(corners, e).filter((v) => inverseMasses[v]! > 0);
    let free = -1;
    for (let word = 0; word < words && free < 0; word++) {
      let taken = 0;
      for (const v of vertices) taken |= used[words * v + word]!;
      if (taken !== -1) free = 32 * word + (31 - Math.clz32(~taken & -~taken));
    }
    if (free < 0) {
      free = 32 * words;
      const wider = new Uint32Array((words + 1) * inverseMasses.length);
      for (let v = 0; v < inverseMasses.length; v++) {
        for (let word = 0; word < words; word++) wider[(words + 1) * v + word] = used[words * v + word]!;
      }
      used = wider;
      words++;
    }
    colour[n] = free;
    colours = Math.max(colours, free + 1);
    for (const v of vertices) used[words * v + (free >> 5)] = used[words * v + (free >> 5)]! | (1 << (free & 31));
  });
  const offsets = new Uint32Array(colours + 1);
  for (const c of colour) offsets[c + 1] = offsets[c + 1]! + 1;
  for (let c = 0; c < colours; c++) offsets[c + 1] = offsets[c + 1]! + offsets[c]!;
  const fill = offsets.slice();
  const order = new Array<number>(elements.length);
  elements.forEach((e, n) => {
    const c = colour[n]!;
    order[fill[c]!] = e;
    fill[c] = fill[c]! + 1;
  });
  return { order, offsets };
}

/** κ, rounded up: a step of 1/κ in the multipliers must not be too long. */
function stiffness(corners: Uint32Array, b: Float32Array, inverseMasses: Float32Array): number {
  const k = new Float64Array(6);
  const opposite = [0, 1, 2].map((c) => -(b[c]! + b[3 + c]! + b[6 + c]!));
  corners.forEach((v, slot) => {
    if (v === NO_CORNER) return;
    const g = slot === 0 ? opposite : Array.from(b.subarray(3 * slot - 3, 3 * slot));
    const w = inverseMasses[v]!;
    k[0] = k[0]! + w * g[0]! * g[0]!;
    k[1] = k[1]! + w * g[1]! * g[1]!;
    k[2] = k[2]! + w * g[2]! * g[2]!;
    k[3] = k[3]! + w * g[0]! * g[1]!;
    k[4] = k[4]! + w * g[0]! * g[2]!;
    k[5] = k[5]! + w * g[1]! * g[2]!;
  });
  const values = new Float64Array(3);
  symmetricEigen(k, values, new Float64Array(9));
  return Math.max(...values) * (1 + 2 ** -20);
}

function lengthOf(b: Float32Array, last: number): number {
  if (last === NO_CORNER) return 1 / Math.sqrt(Math.abs(b[0]! * b[4]! - b[1]! * b[3]!));
  const det =
    b[0]! * (b[4]! * b[8]! - b[5]! * b[7]!) -
    b[1]! * (b[3]! * b[8]! - b[5]! * b[6]!) +
    b[2]! * (b[3]! * b[7]! - b[4]! * b[6]!);
  return 1 / Math.cbrt(Math.abs(det));
}

/** Union-find over the movable vertices of elements; components are numbered by their first vertex. */
function connect(
  corners: Uint32Array,
  inverseMasses: Float32Array,
): Pick<StrainElements, 'componentOf' | 'components'> {
  const parent = new Uint32Array(inverseMasses.length).fill(NO_CORNER);
  const find = (v: number): number => {
    let root = v;
    while (parent[root] !== root) root = parent[root]!;
    for (let at = v; at !== root; ) {
      const next = parent[at]!;
      parent[at] = root;
      at = next;
    }
    return root;
  };
  for (let e = 0; e < corners.length / 4; e++) {
    let first = -1;
    for (const v of own(corners, e)) {
      if (inverseMasses[v] === 0) continue;
      if (parent[v] === NO_CORNER) parent[v] = v;
      if (first < 0) first = find(v);
      else {
        const other = find(v);
        parent[Math.max(first, other)] = Math.min(first, other);
        first = Math.min(first, other);
      }
    }
  }
  const componentOf = new Uint32Array(parent.length).fill(NO_CORNER);
  let components = 0;
  for (let v = 0; v < parent.length; v++) {
    if (parent[v] === NO_CORNER) continue;
    const root = find(v);
    if (root === v) componentOf[v] = components++;
    else componentOf[v] = componentOf[root]!;
  }
  return { componentOf, components };
}
