/** Pairs of elements that are near each other in an answer, as linear functions of the vertices. */
export interface Contacts {
  readonly count: number;
  /** uint32[4·C]; unused places have weight 0 */
  readonly vertices: Uint32Array;
  /** float64[4·C]: of the two nearest points, positive on the side that the normal points to, negative on the other one */
  readonly weights: Float64Array;
  /** float64[3·C], unit */
  readonly normals: Float64Array;
}

export const NO_CONTACTS: Contacts = {
  count: 0,
  vertices: new Uint32Array(0),
  weights: new Float64Array(0),
  normals: new Float64Array(0),
};

/** The Contacts message of the service: little-endian bytes. */
export interface ContactsMessage {
  readonly kinds: Uint8Array;
  readonly vertices: Uint8Array;
  readonly weights: Uint8Array;
  readonly normals: Uint8Array;
}

const UNUSED = 0xffffffff;
const EDGE_EDGE = 2;

export function readContacts({ kinds, vertices, weights, normals }: ContactsMessage): Contacts {
  const count = kinds.length;
  const ids = new Uint32Array(copyOf(vertices));
  const signed = Float64Array.from(new Float32Array(copyOf(weights)));
  for (let c = 0; c < count; c++) {
    const firstOfB = kinds[c] === EDGE_EDGE ? 2 : 1;
    for (let k = 0; k < 4; k++) {
      if (ids[4 * c + k] === UNUSED) {
        ids[4 * c + k] = ids[4 * c]!;
        signed[4 * c + k] = 0;
      } else if (k >= firstOfB) signed[4 * c + k]! *= -1;
    }
  }
  return { count, vertices: ids, weights: signed, normals: Float64Array.from(new Float32Array(copyOf(normals))) };
}

/** Typed arrays of wider numbers need an aligned buffer of their own. */
const copyOf = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer;

/** Σ w v over the vertices of a contact: how its two points differ, or move apart. */
export function valueAt({ vertices, weights }: Contacts, c: number, v: Float64Array): [number, number, number] {
  const sum: [number, number, number] = [0, 0, 0];
  for (let k = 4 * c; k < 4 * c + 4; k++) {
    for (let i = 0; i < 3; i++) sum[i]! += weights[k]! * v[3 * vertices[k]! + i]!;
  }
  return sum;
}

/** How far the two points of a contact are apart along its normal, m; negative once they have passed each other. */
export function gapOf(contacts: Contacts, c: number, x: Float64Array): number {
  const [a, b, d] = valueAt(contacts, c, x);
  const { normals } = contacts;
  return normals[3 * c]! * a + normals[3 * c + 1]! * b + normals[3 * c + 2]! * d;
}

/** Adds w·f for every vertex of a contact: a force between its two points. */
export function spread(
  { vertices, weights }: Contacts,
  c: number,
  f: readonly [number, number, number],
  out: Float64Array,
): void {
  for (let k = 4 * c; k < 4 * c + 4; k++) {
    for (let i = 0; i < 3; i++) out[3 * vertices[k]! + i]! += weights[k]! * f[i]!;
  }
}

/**
 * out += second derivative · v of the springs ½ Σ_c k_c |P u_c|² between the two points of every contact, where u is how they move
 * apart, and P takes its part along the normal or its part across.
 *
 * @param stiffness k, float64[C], N/m
 */
export function addSpringProducts(
  { count, vertices, weights, normals }: Contacts,
  stiffness: Float64Array,
  part: 'ALONG' | 'ACROSS',
  v: Float64Array,
  out: Float64Array,
): void {
  for (let c = 0; c < count; c++) {
    const k = stiffness[c]!;
    if (k === 0) continue;
    let x = 0;
    let y = 0;
    let z = 0;
    for (let i = 4 * c; i < 4 * c + 4; i++) {
      const at = 3 * vertices[i]!;
      const w = weights[i]!;
      x += w * v[at]!;
      y += w * v[at + 1]!;
      z += w * v[at + 2]!;
    }
    const a = normals[3 * c]!;
    const b = normals[3 * c + 1]!;
    const d = normals[3 * c + 2]!;
    const along = k * (a * x + b * y + d * z);
    const isAlong = part === 'ALONG';
    const fx = isAlong ? along * a : k * x - along * a;
    const fy = isAlong ? along * b : k * y - along * b;
    const fz = isAlong ? along * d : k * z - along * d;
    for (let i = 4 * c; i < 4 * c + 4; i++) {
      const at = 3 * vertices[i]!;
      const w = weights[i]!;
      out[at]! += w * fx;
      out[at + 1]! += w * fy;
      out[at + 2]! += w * fz;
    }
  }
}

/**
 * The mass that a push along a contact moves, kg: 1 / Σ w² / m. A kinematic vertex cannot be moved.
 * @param inverseMasses float64[V], 1/kg, 0 of kinematic vertices
 * @returns 0 where no vertex can be moved
 */
export function massOf({ vertices, weights }: Contacts, c: number, inverseMasses: Float64Array): number {
  let sum = 0;
  for (let k = 4 * c; k < 4 * c + 4; k++) sum += weights[k]! ** 2 * inverseMasses[vertices[k]!]!;
  return sum > 0 ? 1 / sum : 0;
}
