/** Pairs of elements that are near each other in an answer, as linear functions of the vertices. */
export interface Contacts {
  readonly count: number;
  /** uint32[4·C]; unused entries have weight 0 */
  readonly vertices: Uint32Array;
  /**
   * float64[4·C]: of the two nearest points, positive on the side to which the normal points, negative on the other one
   */
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

/** Σ w v over the vertices of a contact: the difference or relative motion of its two points. */
export function valueAt({ vertices, weights }: Contacts, c: number, v: Float64Array): [number, number, number] {
  const sum: [number, number, number] = [0, 0, 0];
  for (let k = 4 * c; k < 4 * c + 4; k++) {
    for (let i = 0; i < 3; i++) sum[i]! += weights[k]! * v[3 * vertices[k]! + i]!;
  }
  return sum;
}

/** Distance of the two points of a contact along its normal, m; negative once they have passed each other. */
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
 * out += second derivative · v of the springs ½ Σ_c k_c |P u_c|² between the two points of every contact, where u is
 * their relative motion, and P its part along the normal or across it.
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
  const isAlong = part === 'ALONG';
  for (let c = 0; c < count; c++) {
    const k = stiffness[c]!;
    if (k === 0) continue;
    // Loops over the four vertices and the three axes are unrolled, because this is most of the work of a product if
    // there are many contacts.
    const first = 4 * c;
    const i0 = 3 * vertices[first]!;
    const i1 = 3 * vertices[first + 1]!;
    const i2 = 3 * vertices[first + 2]!;
    const i3 = 3 * vertices[first + 3]!;
    const w0 = weights[first]!;
    const w1 = weights[first + 1]!;
    const w2 = weights[first + 2]!;
    const w3 = weights[first + 3]!;
    const x = w0 * v[i0]! + w1 * v[i1]! + w2 * v[i2]! + w3 * v[i3]!;
    const y = w0 * v[i0 + 1]! + w1 * v[i1 + 1]! + w2 * v[i2 + 1]! + w3 * v[i3 + 1]!;
    const z = w0 * v[i0 + 2]! + w1 * v[i1 + 2]! + w2 * v[i2 + 2]! + w3 * v[i3 + 2]!;
    const a = normals[3 * c]!;
    const b = normals[3 * c + 1]!;
    const d = normals[3 * c + 2]!;
    const along = k * (a * x + b * y + d * z);
    const fx = isAlong ? along * a : k * x - along * a;
    const fy = isAlong ? along * b : k * y - along * b;
    const fz = isAlong ? along * d : k * z - along * d;
    out[i0]! += w0 * fx;
    out[i0 + 1]! += w0 * fy;
    out[i0 + 2]! += w0 * fz;
    out[i1]! += w1 * fx;
    out[i1 + 1]! += w1 * fy;
    out[i1 + 2]! += w1 * fz;
    out[i2]! += w2 * fx;
    out[i2 + 1]! += w2 * fy;
    out[i2 + 2]! += w2 * fz;
    out[i3]! += w3 * fx;
    out[i3 + 1]! += w3 * fy;
    out[i3 + 2]! += w3 * fz;
  }
}

/**
 * The mass that a push along a contact moves, kg: 1 / Σ w² / m. A kinematic vertex cannot be moved.
 * @param inverseMasses float64[V], 1/kg, 0 for kinematic vertices
 * @returns 0 if no vertex can be moved
 */
export function massOf({ vertices, weights }: Contacts, c: number, inverseMasses: Float64Array): number {
  let sum = 0;
  for (let k = 4 * c; k < 4 * c + 4; k++) sum += weights[k]! ** 2 * inverseMasses[vertices[k]!]!;
  return sum > 0 ? 1 / sum : 0;
}
