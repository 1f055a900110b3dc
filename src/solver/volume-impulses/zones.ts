import { symmetricEigen } from '../strain/symmetric-eigen.js';
import type { Volumes } from './volumes.js';

/**
 * If the moment of inertia about an axis is less than this share of the largest, the vertices lie on a line along it.
 */
const LEAST_INERTIA = 1e-9;

/**
 * The contact zones of one round: dynamic vertices that tetrahedra connect. An impulse of a tetrahedron acts within its
 * zone only, so momentum is conserved zone by zone (Section 4, "locally").
 *
 * Angular momentum. With straight paths L = Σ m x × (x' − x) / Δt = Σ m x × x' / Δt, about x^n and about x^{n+1} alike,
 * so a change Δx of x' changes it by Σ m x × Δx. The impulses F p of Eq. 3 have no moment about the positions at which
 * F is taken, which are those at the end of the step: they conserve L only to first order in Δt.
 * {@link keepAngularMomentum} subtracts from Δx the rotation ω × (x − c) of the zone about its centre of mass that
 * brings Σ m (x − c) × Δx to 0. Of all corrections that do so it has the least kinetic energy, and it is a projection
 * in the metric of M, so FᵀM⁻¹F stays symmetric and positive semi-definite with it. Zones with a kinematic vertex
 * exchange momentum with its environment, and are not corrected.
 */
export class Zones {
  count = 0;
  /** int32[V] zone of a vertex, −1 = none */
  readonly of: Int32Array;
  /** the dynamic vertices of zones, ascending by zone */
  members: number[] = [];
  /** first member of each zone, and the end */
  first: number[] = [];
  /** whether a zone has a kinematic vertex */
  isHeld: boolean[] = [];
  readonly #parent: Int32Array;
  /**
   * float64[9·zones] inverse of the tensor of inertia, 0 along axes without inertia; float64[3·zones] centre of mass
   */
  #inverseInertia = new Float64Array(0);
  #centre = new Float64Array(0);

  constructor(vertexCount: number) {
    this.of = new Int32Array(vertexCount).fill(-1);
    this.#parent = new Int32Array(vertexCount);
  }

  /**
   * @param x float32[3·V] x^n
   * @param inverseMasses float32[V] 0 = kinematic
   */
  build(volumes: Volumes, x: Float32Array, inverseMasses: Float32Array): void {
    const parent = this.#parent;
    const { of } = this;
    for (const v of this.members) of[v] = -1;
    this.members = [];
    const { vertex, count } = volumes;
    for (let k = 0; k < 4 * count; k++) parent[vertex[k]] = vertex[k];
    for (let n = 0; n < count; n++) {
      let root = -1;
      for (let s = 0; s < 4; s++) {
        const v = vertex[4 * n + s];
        if (inverseMasses[v] === 0) continue;
        const other = this.#find(v);
        // The smaller index is the root, so that the order of zones is well defined.
        if (root >= 0) parent[Math.max(root, other)] = Math.min(root, other);
        root = root >= 0 ? Math.min(root, other) : other;
      }
    }
    this.count = 0;
    this.isHeld = [];
    const found: number[] = [];
    for (let n = 0; n < count; n++) {
      let [zone, touchesKinematic] = [-1, false];
      for (let s = 0; s < 4; s++) {
        const v = vertex[4 * n + s];
        if (inverseMasses[v] === 0) {
          touchesKinematic = true;
          continue;
        }
        const root = this.#find(v);
        if (of[root] < 0) {
          of[root] = this.count++;
          this.isHeld.push(false);
          found.push(root);
        }
        zone = of[root];
        if (of[v] < 0) {
          of[v] = zone;
          found.push(v);
        }
      }
      if (zone >= 0 && touchesKinematic) this.isHeld[zone] = true;
    }
    this.members = found.sort((v, w) => of[v] - of[w] || v - w);
    this.first = [];
    this.members.forEach((v, m) => {
      if (m === 0 || of[v] !== of[this.members[m - 1]]) this.first.push(m);
    });
    this.first.push(this.members.length);
    this.#measure(x, inverseMasses);
  }

  #find(v: number): number {
    const parent = this.#parent;
    let root = v;
    while (parent[root] !== root) {
      parent[root] = parent[parent[root]];
      root = parent[root];
    }
    return root;
  }

  #measure(x: Float32Array, inverseMasses: Float32Array): void {
    this.#inverseInertia = new Float64Array(9 * this.count);
    this.#centre = new Float64Array(3 * this.count);
    for (let zone = 0; zone < this.count; zone++) {
      if (this.isHeld[zone]) continue;
      const centre = [0, 0, 0];
      let mass = 0;
      for (let m = this.first[zone]; m < this.first[zone + 1]; m++) {
        const v = this.members[m];
        mass += 1 / inverseMasses[v];
        for (let c = 0; c < 3; c++) centre[c] += x[3 * v + c] / inverseMasses[v];
      }
      for (let c = 0; c < 3; c++) this.#centre[3 * zone + c] = centre[c] / mass;
      const second = [0, 0, 0, 0, 0, 0, 0, 0, 0];
      for (let m = this.first[zone]; m < this.first[zone + 1]; m++) {
        const v = this.members[m];
        const r = [0, 1, 2].map((c) => x[3 * v + c] - this.#centre[3 * zone + c]);
        for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) second[3 * i + j] += (r[i] * r[j]) / inverseMasses[v];
      }
      const trace = second[0] + second[4] + second[8];
      const inertia = second.map((value, k) => (k % 4 === 0 ? trace : 0) - value);
      this.#inverseInertia.set(pseudoInverse(inertia), 9 * zone);
    }
  }

  /**
   * Removes from a displacement, in place, the part that would change the angular momentum of a zone.
   *
   * @param delta float64[3·V] whose sum Σ m Δ over each free zone is 0
   */
  keepAngularMomentum(delta: Float64Array, x: Float32Array, inverseMasses: Float32Array): void {
    for (let zone = 0; zone < this.count; zone++) {
      if (this.isHeld[zone]) continue;
      const [cx, cy, cz] = [0, 1, 2].map((c) => this.#centre[3 * zone + c]);
      let [lx, ly, lz] = [0, 0, 0];
      for (let m = this.first[zone]; m < this.first[zone + 1]; m++) {
        const v = this.members[m];
        const k = 3 * v;
        const w = 1 / inverseMasses[v];
        const [rx, ry, rz] = [x[k] - cx, x[k + 1] - cy, x[k + 2] - cz];
        lx += w * (ry * delta[k + 2] - rz * delta[k + 1]);
        ly += w * (rz * delta[k] - rx * delta[k + 2]);
        lz += w * (rx * delta[k + 1] - ry * delta[k]);
      }
      const i = this.#inverseInertia;
      const o = 9 * zone;
      const ox = i[o] * lx + i[o + 1] * ly + i[o + 2] * lz;
      const oy = i[o + 3] * lx + i[o + 4] * ly + i[o + 5] * lz;
      const oz = i[o + 6] * lx + i[o + 7] * ly + i[o + 8] * lz;
      for (let m = this.first[zone]; m < this.first[zone + 1]; m++) {
        const k = 3 * this.members[m];
        const [rx, ry, rz] = [x[k] - cx, x[k + 1] - cy, x[k + 2] - cz];
        delta[k] -= oy * rz - oz * ry;
        delta[k + 1] -= oz * rx - ox * rz;
        delta[k + 2] -= ox * ry - oy * rx;
      }
    }
  }
}

/**
 * Returns the inverse of a symmetric positive semi-definite 3 × 3 matrix on the axes on which it has more than
 * {@link LEAST_INERTIA} of its largest eigenvalue; 0 on the others.
 *
 * @param m [9] row by row
 */
export function pseudoInverse(m: readonly number[]): number[] {
  const values = new Float64Array(3);
  const vectors = new Float64Array(9);
  symmetricEigen(Float64Array.of(m[0], m[4], m[8], m[1], m[2], m[5]), values, vectors);
  const least = LEAST_INERTIA * Math.max(...values);
  const inverse = new Array<number>(9).fill(0);
  values.forEach((value, axis) => {
    if (!(value > least)) return;
    const along = vectors.subarray(3 * axis, 3 * axis + 3);
    for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) inverse[3 * i + j] += (along[i] * along[j]) / value;
  });
  return inverse;
}
