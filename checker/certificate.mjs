/**
 * Checks a certificate: a file with the start of a mesh, every state on its way, and the answer. One file without
 * imports, for Node (`node certificate.mjs FILE`) and for browsers (`checkCertificate(bytes)`). It shares no code with
 * the program that wrote the file.
 *
 * The file
 *   8 bytes "ISTCERT1", uint32 n (little-endian, as everything), n bytes of UTF-8: a JSON object, padded with spaces to a multiple of 8; then the
 *   arrays, each at a multiple of 8. `arrays` of the object: name → {type, length, offset (from the first array), sha256 (hex)}. Arrays:
 *   triangles uint32[3·T], segments uint32[2·S], particles uint32[P], kinematic uint8[V], phases uint8[N], steps uint32[N],
 *   states float32 or float64 [3·V·N], start and answer [3·V]. `skipKinematic`: pairs of kinematic elements are not promised.
 *
 * What is confirmed
 *   1. Every array has its hash; the first state is the start, the last one the answer, as numbers.
 *   2. In no state does an edge pass through a triangle (exact arithmetic).
 *   3. On no piece, between two states, where every vertex moves on a straight line at the same pace, do two elements have a common point.
 * Elements that share a vertex are no pair. "No" in 3 is proved, never sampled: a pair that the proof does not reach
 * counts as a collision.
 */

const MAGIC = 'ISTCERT1';
const TYPES = { uint8: Uint8Array, uint32: Uint32Array, float32: Float32Array, float64: Float64Array };

// ---- 1. the file

/** Reads a certificate. @param {Uint8Array} bytes @throws Error that says what is wrong with the file */
export function readCertificate(bytes) {
  if (bytes.length < 12 || String.fromCharCode(...bytes.subarray(0, 8)) !== MAGIC) {
    throw new Error(`This is no certificate: the file does not begin with ${MAGIC}.`);
  }
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true);
  const begin = 12 + size;
  if (begin > bytes.length) throw new Error('The file ends within its header.');
  const header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(12, begin)));
  const arrays = {};
  for (const [name, { type, length, offset, sha256: stated }] of Object.entries(header.arrays)) {
    const Type = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
    if (!Type || !Number.isSafeInteger(length) || !Number.isSafeInteger(offset) || length < 0 || offset < 0) {
      throw new Error(`The array ${name} is not described correctly.`);
    }
    const from = begin + offset;
    const to = from + length * Type.BYTES_PER_ELEMENT;
    if (to > bytes.length) throw new Error(`The file ends within the array ${name}.`);
    // A copy, whatever the subclass: it begins where the array does.
    const content = Uint8Array.prototype.slice.call(bytes, from, to);
    const actual = sha256(content);
    if (actual !== stated) throw new Error(`The array ${name} was changed: its SHA-256 is ${actual}, the header says ${stated}.`);
    arrays[name] = new Type(content.buffer);
  }
  return { header, arrays };
}

/** @param {Uint8Array} bytes @returns {string} hex, FIPS 180-4 */
export function sha256(bytes) {
  const k = ROUND_CONSTANTS;
  const h = Uint32Array.from(INITIAL_HASH);
  const w = new Uint32Array(64);
  const rest = bytes.length % 64;
  const tail = new Uint8Array(rest < 56 ? 64 : 128);
  tail.set(bytes.subarray(bytes.length - rest));
  tail[rest] = 0x80;
  const words = new DataView(tail.buffer);
  words.setUint32(tail.length - 8, Math.floor(bytes.length / 2 ** 29));
  words.setUint32(tail.length - 4, (bytes.length << 3) >>> 0);
  const block = (from, at) => {
    for (let i = 0; i < 16; i++, at += 4) w[i] = (from[at] << 24) | (from[at + 1] << 16) | (from[at + 2] << 8) | from[at + 3];
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15];
      const b = w[i - 2];
      const s0 = ((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3);
      const s1 = ((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    let [a, b, c, d, e, f, g, i] = h;
    for (let n = 0; n < 64; n++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (i + s1 + ((e & f) ^ (~e & g)) + k[n] + w[n]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      i = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    for (const [n, x] of [a, b, c, d, e, f, g, i].entries()) h[n] += x;
  };
  for (let at = 0; at + 64 <= bytes.length; at += 64) block(bytes, at);
  for (let at = 0; at < tail.length; at += 64) block(tail, at);
  return Array.from(h, (x) => x.toString(16).padStart(8, '0')).join('');
}

/** Fractional parts of the square and cube roots of the first primes, exactly: by integer roots of p·2^64 and p·2^96. */
const primes = [];
for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p !== 0)) primes.push(n);
const integerRoot = (value, power) => {
  let low = 0n;
  let high = 1n << 40n;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (middle ** power <= value) low = middle;
    else high = middle;
  }
  return low;
};
const INITIAL_HASH = primes.slice(0, 8).map((p) => Number(integerRoot(BigInt(p) << 64n, 2n) & 0xffffffffn));
const ROUND_CONSTANTS = primes.map((p) => Number(integerRoot(BigInt(p) << 96n, 3n) & 0xffffffffn));

// ---- 2. exact signs

/** Relative rounding of a double operation. */
const U = 2 ** -53;

/**
 * The largest difference of coordinates whose products are computed in doubles; those of float32 are below 2^129.
 * Products of three do not overflow. One that underflows errs by 2^-1075, times up to two more factors by 2^-775: the
 * absolute terms of the bounds cover dozens of these.
 */
const LARGEST = 2 ** 150;

/**
 * The sign of det(b − a, c − a, d − a), exactly. In doubles first: each difference errs by u of itself, a product of
 * three by 5u with them, the five sums by 5u more, so the value is off by less than 16u of the sum of the sizes;
 * otherwise, and beyond {@link LARGEST}, in integers.
 */
export function orientation(x, a, b, c, d) {
  const [i, j, k, l] = [3 * a, 3 * b, 3 * c, 3 * d];
  const bx = x[j] - x[i];
  const by = x[j + 1] - x[i + 1];
  const bz = x[j + 2] - x[i + 2];
  const cx = x[k] - x[i];
  const cy = x[k + 1] - x[i + 1];
  const cz = x[k + 2] - x[i + 2];
  const dx = x[l] - x[i];
  const dy = x[l + 1] - x[i + 1];
  const dz = x[l + 2] - x[i + 2];
  const largestB = Math.max(Math.abs(bx), Math.abs(by), Math.abs(bz));
  const largestC = Math.max(Math.abs(cx), Math.abs(cy), Math.abs(cz));
  const largestD = Math.max(Math.abs(dx), Math.abs(dy), Math.abs(dz));
  if (Math.max(largestB, largestC, largestD) <= LARGEST) {
    const [p, q, r, s, t, u] = [by * cz, bz * cy, bz * cx, bx * cz, bx * cy, by * cx];
    const value = dx * (p - q) + dy * (r - s) + dz * (t - u);
    const size =
      Math.abs(dx) * (Math.abs(p) + Math.abs(q)) +
      Math.abs(dy) * (Math.abs(r) + Math.abs(s)) +
      Math.abs(dz) * (Math.abs(t) + Math.abs(u));
    // The second term covers products that underflow.
    const bound = 16 * U * size + 2 ** -900;
    if (value > bound) return 1;
    if (value < -bound) return -1;
  }
  return exactOrientation([i, j, k, l].map((at) => [x[at], x[at + 1], x[at + 2]]));
}

/** Every double is m·2^e with an integer m: all coordinates become integers by the smallest e. */
function exactOrientation(points) {
  const parts = points.flat().map(decompose);
  const least = parts.reduce((min, { m, e }) => (m === 0n ? min : Math.min(min, e)), 2000);
  const whole = parts.map(({ m, e }) => (m === 0n ? 0n : m << BigInt(e - least)));
  const difference = (n, axis) => whole[3 * n + axis] - whole[axis];
  const [bx, by, bz, cx, cy, cz, dx, dy, dz] = [1, 2, 3].flatMap((n) => [0, 1, 2].map((axis) => difference(n, axis)));
  const value = dx * (by * cz - bz * cy) + dy * (bz * cx - bx * cz) + dz * (bx * cy - by * cx);
  return value > 0n ? 1 : value < 0n ? -1 : 0;
}

const bits = new DataView(new ArrayBuffer(8));

/** value = m·2^e */
function decompose(value) {
  bits.setFloat64(0, value);
  const word = bits.getBigUint64(0);
  const exponent = Number((word >> 52n) & 0x7ffn);
  const fraction = word & 0xfffffffffffffn;
  const m = exponent === 0 ? fraction : fraction | 0x10000000000000n;
  return { m: word >> 63n ? -m : m, e: Math.max(exponent, 1) - 1075 };
}

/**
 * Whether edge pq passes through triangle abc, from one side of its plane to the other. If all lie in one plane, or p
 * or q in that of the triangle, a common point is one of p or q with the triangle or of the edge with a side, and the
 * proof of the pieces excludes those.
 */
function pierces(x, p, q, a, b, c) {
  const from = orientation(x, a, b, c, p);
  const to = orientation(x, a, b, c, q);
  if (from * to >= 0) return false;
  const [u, v, w] = [orientation(x, p, q, a, b), orientation(x, p, q, b, c), orientation(x, p, q, c, a)];
  return (u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0);
}

// ---- 3. pairs on a piece

/** Times are multiples of this, so that 1 − t is exact. */
const SHORTEST = 2 ** -30;
const MOST_INTERVALS = 1 << 15;
const GILBERT_ROUNDS = 12;

/** By their number, the sides of the polygon of the differences a_i − b_j, in the order of the loops: two edges, a vertex and a triangle, a vertex and an edge. */
const SIDES = {
  2: [[0, 1]],
  3: [[0, 1], [1, 2], [0, 2]],
  4: [[0, 1], [0, 2], [1, 3], [2, 3]],
};

/**
 * Proves that the convex hulls of two sets of at most three vertices never meet while x(t) = (1−t)·s + t·e, 0 ≤ t ≤ 1.
 *
 * The hulls meet at t if and only if 0 is in the hull of the differences d_ij(t) = a_i(t) − b_j(t), each linear in t.
 * If for one vector n all n·d_ij > 0 at both ends of an interval, they are all through it, and so is n·(any point of
 * the hull): no meeting. n may be any vector, since only the evaluation of n·d rounds. Where no n is found the interval
 * is halved.
 *
 * Rounding, u = 2^-53, M_c the largest |a_i − b_j| at s or e on axis c as computed: D_s = fl(a − b) errs by u M,
 * fl((1−t) D_s) by u M more, the sum of two such by u M: 4u M in all with room; n·d adds three products and two sums:
 * 3u Σ|n_c| M_c. 7u Σ|n_c| M_c < 16u Σ|n_c| M_c, which is used. |n_c| ≤ 1 keeps underflow far below 2^-900.
 *
 * The plane may turn: with n(r) = (1−r) n0 + r n1, 0 ≤ r ≤ 1 in the interval, n·d is a quadratic whose Bernstein
 * coefficients are n0·d0, (n0·d1 + n1·d0)/2 and n1·d1 for the differences d0, d1 at the ends. If all are positive, n·d
 * is. Tried are the nearest points to 0 of the differences at both ends without their part along an edge, as long as
 * the edge: for parallel edges that turn in a plane n(r) stays across them. The sum of two such products errs by 7u (S0
 * + S1) + u (S0 + S1), S_i = Σ|n_i,c| M_c: 16u (S0 + S1) is used.
 *
 * Four points that are never in one plane (vertex and triangle, two edges) never meet either: det(B, C, D)(t) of the
 * differences to the first point is a cubic, and with four Bernstein coefficients of one sign it has no root. Each
 * factor errs by 4u M (absolute), a product of three by 12u + 2u, six of them and five sums: below 120u Mx My Mz; the
 * inner coefficients are three such and two sums: below 400u; 1024u is used. Differences beyond LARGEST, whose products
 * may overflow, prove nothing so. A factor that underflows errs by 2^-1074, times two others by 2^-774; 2^-700 covers
 * all of these.
 */
class PieceProof {
  #early = new Float64Array(36);
  #late = new Float64Array(36);
  #from = new Float64Array(36);
  #to = new Float64Array(36);
  #middle = new Float64Array(36);
  #count = 0;
  #isQuad = false;
  #size = [0, 0, 0];
  #n = [0, 0, 0];

  /** @returns {boolean} whether the pair certainly never meets; a and b are vertex ids of the sides */
  holds(s, e, a, b) {
    this.#isQuad = a.length + b.length === 4;
    this.#count = a.length * b.length;
    this.#size = [0, 0, 0];
    let k = 0;
    for (const i of a) {
      for (const j of b) {
        for (let c = 0; c < 3; c++, k++) {
          this.#early[k] = s[3 * i + c] - s[3 * j + c];
          this.#late[k] = e[3 * i + c] - e[3 * j + c];
          this.#size[c] = Math.max(this.#size[c], Math.abs(this.#early[k]), Math.abs(this.#late[k]));
        }
      }
    }
    let time = 0;
    let length = 1;
    for (let examined = 0; examined < MOST_INTERVALS; examined++) {
      if (this.#isClear(time, time + length, a, b, s, e)) {
        time += length;
        if (time >= 1) return true;
        while (length < 1 && (time / (2 * length)) % 1 === 0) length *= 2;
      } else {
        length /= 2;
        if (length < SHORTEST) return false;
      }
    }
    return false;
  }

  #isClear(t0, t1, a, b, s, e) {
    for (let k = 0; k < 3 * this.#count; k++) {
      this.#from[k] = (1 - t0) * this.#early[k] + t0 * this.#late[k];
      this.#to[k] = (1 - t1) * this.#early[k] + t1 * this.#late[k];
    }
    for (let c = 0; c < 3; c++) {
      if (this.#parts(c === 0 ? 1 : 0, c === 1 ? 1 : 0, c === 2 ? 1 : 0)) return true;
      if (this.#parts(c === 0 ? -1 : 0, c === 1 ? -1 : 0, c === 2 ? -1 : 0)) return true;
    }
    if (this.#partsAsInTheMiddle()) return true;
    if (this.#isQuad && this.#isNeverFlat(t0, t1, a, b, s, e)) return true;
    return this.#search() || this.#partsWhileTurning();
  }

  /**
   * Tries the directions of the point nearest to 0 among the differences half way, which are a parallelogram, a
   * triangle or a segment: the normal of its plane, and the nearest point of each side.
   */
  #partsAsInTheMiddle() {
    const sides = SIDES[this.#count];
    if (!sides) return false;
    const d = this.#middle;
    for (let k = 0; k < 3 * this.#count; k++) d[k] = (this.#from[k] + this.#to[k]) / 2;
    if (this.#count > 2) {
      const [ux, uy, uz] = [d[3] - d[0], d[4] - d[1], d[5] - d[2]];
      const [vx, vy, vz] = [d[6] - d[0], d[7] - d[1], d[8] - d[2]];
      const [x, y, z] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
      const sign = x * d[0] + y * d[1] + z * d[2] < 0 ? -1 : 1;
      if (this.#parts(sign * x, sign * y, sign * z)) return true;
    }
    return sides.some((side) => this.#parts(...nearestOn(d, side)));
  }

  /** Tries planes that turn, each along a side of the polygon, which is an edge, and across a nearest point of any side. */
  #partsWhileTurning() {
    const sides = SIDES[this.#count];
    if (!sides) return false;
    for (const side of sides) {
      const early = nearestOn(this.#from, side);
      const late = nearestOn(this.#to, side);
      for (const edge of sides) if (this.#partsFromTo(across(this.#from, edge, early), across(this.#to, edge, late))) return true;
    }
    return false;
  }

  /** Whether the normal that goes from n0 to n1 parts the sides all the time. */
  #partsFromTo(n0, n1) {
    const largest = Math.max(...n0.map(Math.abs), ...n1.map(Math.abs));
    if (!(largest > 2 ** -500 && largest < 2 ** 500)) return false;
    const [x, y, z] = n0.map((value) => value / largest);
    const [u, v, w] = n1.map((value) => value / largest);
    const [mx, my, mz] = this.#size;
    const first = Math.abs(x) * mx + Math.abs(y) * my + Math.abs(z) * mz;
    const last = Math.abs(u) * mx + Math.abs(v) * my + Math.abs(w) * mz;
    const [p, q] = [this.#from, this.#to];
    for (let k = 0; k < 3 * this.#count; k += 3) {
      if (!(x * p[k] + y * p[k + 1] + z * p[k + 2] > 16 * U * first + 2 ** -900)) return false;
      if (!(u * q[k] + v * q[k + 1] + w * q[k + 2] > 16 * U * last + 2 ** -900)) return false;
      const between = x * q[k] + y * q[k + 1] + z * q[k + 2] + (u * p[k] + v * p[k + 1] + w * p[k + 2]);
      if (!(between > 16 * U * (first + last) + 2 ** -900)) return false;
    }
    return true;
  }

  /** Whether n parts the sides at both ends. */
  #parts(nx, ny, nz) {
    const largest = Math.max(Math.abs(nx), Math.abs(ny), Math.abs(nz));
    if (!(largest > 2 ** -500 && largest < 2 ** 500)) return false;
    const [x, y, z] = [nx / largest, ny / largest, nz / largest];
    const [mx, my, mz] = this.#size;
    const bound = 16 * U * (Math.abs(x) * mx + Math.abs(y) * my + Math.abs(z) * mz) + 2 ** -900;
    for (let k = 0; k < 3 * this.#count; k += 3) {
      if (!(x * this.#from[k] + y * this.#from[k + 1] + z * this.#from[k + 2] > bound)) return false;
      if (!(x * this.#to[k] + y * this.#to[k + 1] + z * this.#to[k + 2] > bound)) return false;
    }
    return true;
  }

  /** Gilbert's search for the point of the hull of both ends' differences that is nearest to 0; its direction is the best n. */
  #search() {
    const points = [this.#from, this.#to];
    const n = this.#n;
    for (let c = 0; c < 3; c++) {
      n[c] = 0;
      for (const at of points) for (let k = c; k < 3 * this.#count; k += 3) n[c] += at[k];
      n[c] /= 2 * this.#count;
    }
    for (let round = 0; round < GILBERT_ROUNDS; round++) {
      let least = Number.POSITIVE_INFINITY;
      let [px, py, pz] = [0, 0, 0];
      for (const at of points) {
        for (let k = 0; k < 3 * this.#count; k += 3) {
          const along = n[0] * at[k] + n[1] * at[k + 1] + n[2] * at[k + 2];
          if (along < least) [least, px, py, pz] = [along, at[k], at[k + 1], at[k + 2]];
        }
      }
      if (least > 0 && this.#parts(n[0], n[1], n[2])) return true;
      const [dx, dy, dz] = [px - n[0], py - n[1], pz - n[2]];
      const squared = dx * dx + dy * dy + dz * dz;
      if (!(squared > 0)) return false;
      const share = Math.min(1, Math.max(0, -(n[0] * dx + n[1] * dy + n[2] * dz) / squared));
      if (share === 0) return false;
      n[0] += share * dx;
      n[1] += share * dy;
      n[2] += share * dz;
    }
    return false;
  }

  #isNeverFlat(t0, t1, a, b, s, e) {
    const ids = [...a, ...b];
    const at = (t) =>
      ids.slice(1).map((v) =>
        [0, 1, 2].map((c) => (1 - t) * (s[3 * v + c] - s[3 * ids[0] + c]) + t * (e[3 * v + c] - e[3 * ids[0] + c])),
      );
    const p = at(t0);
    const q = at(t1);
    const size = [0, 1, 2].map((c) =>
      Math.max(
        ...ids.slice(1).map((v) => Math.max(Math.abs(s[3 * v + c] - s[3 * ids[0] + c]), Math.abs(e[3 * v + c] - e[3 * ids[0] + c]))),
      ),
    );
    if (!size.every((largest) => largest <= LARGEST)) return false;
    const bound = 1024 * U * size[0] * size[1] * size[2] + 2 ** -700;
    const values = [
      determinant(p[0], p[1], p[2]),
      determinant(q[0], p[1], p[2]) + determinant(p[0], q[1], p[2]) + determinant(p[0], p[1], q[2]),
      determinant(p[0], q[1], q[2]) + determinant(q[0], p[1], q[2]) + determinant(q[0], q[1], p[2]),
      determinant(q[0], q[1], q[2]),
    ];
    return values.every((value) => value > bound) || values.every((value) => value < -bound);
  }
}

/** The point of a side of the polygon of differences that is nearest to 0. */
function nearestOn(d, [i, j]) {
  const [p, q] = [3 * i, 3 * j];
  const [x, y, z] = [d[q] - d[p], d[q + 1] - d[p + 1], d[q + 2] - d[p + 2]];
  const squared = x * x + y * y + z * z;
  const along = -(d[p] * x + d[p + 1] * y + d[p + 2] * z);
  const share = squared > 0 ? Math.min(1, Math.max(0, along / squared)) : 0;
  return [d[p] + share * x, d[p + 1] + share * y, d[p + 2] + share * z];
}

/** A vector without its part along a side, as long as the side; NaN, which parts nothing, if one of them has no length. */
function across(d, [i, j], n) {
  const edge = [0, 1, 2].map((c) => d[3 * j + c] - d[3 * i + c]);
  const squared = edge.reduce((sum, value) => sum + value * value, 0);
  const along = edge.reduce((sum, value, c) => sum + value * n[c], 0) / squared;
  const rest = n.map((value, c) => value - along * edge[c]);
  const size = Math.sqrt(squared / rest.reduce((sum, value) => sum + value * value, 0));
  return rest.map((value) => value * size);
}

const determinant = (a, b, c) =>
  a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);

/** Whether two sides of at most three vertices certainly never meet on a piece. Positions are [3·V], sides vertex ids. */
export const provesApart = (start, end, a, b) => new PieceProof().holds(start, end, a, b);

// ---- 4. elements and their tree

/** The elements of a mesh, each owned by a triangle, a segment or a particle: the pairs of a tree are pairs of owners. */
class Elements {
  constructor({ triangles, segments, particles, kinematic }, vertexCount, skipKinematic) {
    this.owners = [];
    const edgeOf = new Map();
    const hasOwner = new Uint8Array(vertexCount);
    const isRigid = (ids) => skipKinematic && ids.every((v) => kinematic[v] === 1);
    const own = (corners, sides) => {
      const owner = { corners, vertices: [], edges: [], isTriangle: corners.length === 3, isParticle: corners.length === 1, isInner: false };
      for (const v of corners) {
        if (hasOwner[v]) continue;
        hasOwner[v] = 1;
        owner.vertices.push({ ids: [v], isInner: false });
      }
      for (const [p, q] of sides) {
        const key = Math.min(p, q) * vertexCount + Math.max(p, q);
        let edge = edgeOf.get(key);
        if (!edge) {
          edge = { ids: [p, q], isInner: isRigid([p, q]), isRigid: isRigid([p, q]) };
          edgeOf.set(key, edge);
          owner.edges.push(edge);
        }
        // An edge guards what touches its triangles: it is inner if they all are kinematic.
        if (corners.length === 3 && !isRigid(corners)) edge.isInner = false;
      }
      owner.isInner = isRigid(corners);
      this.owners.push(owner);
    };
    for (let t = 0; t < triangles.length; t += 3) {
      const [a, b, c] = triangles.subarray(t, t + 3);
      own([a, b, c], [[a, b], [b, c], [c, a]]);
    }
    for (let s = 0; s < segments.length; s += 2) own([segments[s], segments[s + 1]], [[segments[s], segments[s + 1]]]);
    for (const v of particles) own([v], []);
    // A vertex is inner if all vertices that it shares an edge with are kinematic as well.
    const inner = Uint8Array.from({ length: vertexCount }, (_, v) => (isRigid([v]) ? 1 : 0));
    for (const { ids } of edgeOf.values()) {
      for (const [v, w] of [ids, [ids[1], ids[0]]]) if (!isRigid([w])) inner[v] = 0;
    }
    for (const { vertices } of this.owners) for (const vertex of vertices) vertex.isInner = inner[vertex.ids[0]] === 1;
  }
}

/** Boxes of owners in a binary tree, built anew for every piece: from low to high on each axis over both ends. */
class Tree {
  constructor(owners, s, e) {
    const count = owners.length;
    this.boxes = new Float64Array(12 * count);
    this.moves = new Uint8Array(2 * count);
    this.left = new Int32Array(2 * count).fill(-1);
    this.right = new Int32Array(2 * count);
    this.owner = new Int32Array(2 * count).fill(-1);
    const own = new Float64Array(6 * count);
    const centres = new Float64Array(3 * count);
    const moving = new Uint8Array(count);
    for (let n = 0; n < count; n++) {
      const b = boxOf(owners[n].corners, s, e);
      own.set(b, 6 * n);
      for (let c = 0; c < 3; c++) centres[3 * n + c] = b[c] + b[3 + c];
      moving[n] = owners[n].corners.some((v) => moved(s, e, v)) ? 1 : 0;
    }
    const order = Int32Array.from({ length: count }, (_, n) => n);
    let used = 0;
    const build = (from, to) => {
      const node = used++;
      const box = this.boxes.subarray(6 * node, 6 * node + 6).fill(Number.NEGATIVE_INFINITY);
      box.fill(Number.POSITIVE_INFINITY, 0, 3);
      for (let i = from; i < to; i++) {
        const at = 6 * order[i];
        for (let c = 0; c < 3; c++) {
          if (own[at + c] < box[c]) box[c] = own[at + c];
          if (own[at + 3 + c] > box[3 + c]) box[3 + c] = own[at + 3 + c];
        }
        this.moves[node] |= moving[order[i]];
      }
      if (to - from === 1) {
        this.owner[node] = order[from];
        return node;
      }
      let axis = 0;
      for (let c = 1; c < 3; c++) if (box[3 + c] - box[c] > box[3 + axis] - box[axis]) axis = c;
      order.subarray(from, to).sort((i, j) => centres[3 * i + axis] - centres[3 * j + axis] || i - j);
      const middle = (from + to) >> 1;
      this.left[node] = build(from, middle);
      this.right[node] = build(middle, to);
      return node;
    };
    if (count > 0) build(0, count);
  }

  /** Visits every pair of owners whose boxes have a common point. @param all false: of those at least one of which moves */
  forEachPair(all, visit) {
    if (this.left.length === 0) return;
    const stack = [0, 0];
    const { boxes, left, right, owner, moves } = this;
    while (stack.length > 0) {
      const b = stack.pop();
      const a = stack.pop();
      if (!all && moves[a] === 0 && moves[b] === 0) continue;
      if (a === b) {
        if (owner[a] >= 0) continue;
        stack.push(left[a], left[a], right[a], right[a], left[a], right[a]);
        continue;
      }
      if (!overlap(boxes, 6 * a, boxes, 6 * b)) continue;
      if (owner[a] >= 0 && owner[b] >= 0) visit(owner[a], owner[b]);
      else if (owner[b] >= 0 || (owner[a] < 0 && extent(boxes, a) >= extent(boxes, b))) stack.push(left[a], b, right[a], b);
      else stack.push(a, left[b], a, right[b]);
    }
  }
}

const moved = (s, e, v) => s[3 * v] !== e[3 * v] || s[3 * v + 1] !== e[3 * v + 1] || s[3 * v + 2] !== e[3 * v + 2];

const extent = (boxes, n) => boxes[6 * n + 3] - boxes[6 * n] + boxes[6 * n + 4] - boxes[6 * n + 1] + boxes[6 * n + 5] - boxes[6 * n + 2];

function overlap(p, i, q, j) {
  for (let c = 0; c < 3; c++) if (p[i + c] > q[j + 3 + c] || q[j + c] > p[i + 3 + c]) return false;
  return true;
}

/** Over both ends of a piece: a straight way lies in the hull of its ends. Minimum and maximum are exact. */
function boxOf(ids, s, e) {
  const inf = Number.POSITIVE_INFINITY;
  const box = [inf, inf, inf, -inf, -inf, -inf];
  for (const v of ids) {
    for (let c = 0; c < 3; c++) {
      box[c] = Math.min(box[c], s[3 * v + c], e[3 * v + c]);
      box[3 + c] = Math.max(box[3 + c], s[3 * v + c], e[3 * v + c]);
    }
  }
  return box;
}

// ---- 5. the check

/** Findings that are named; their number is complete. */
const NAMED = 16;

/**
 * Checks a certificate.
 *
 * @param {Uint8Array} bytes the file
 * @param {{onProgress?: (done: number, all: number) => void, yields?: () => Promise<void>}} options called after every
 *   piece; a page awaits a frame in `yields`
 * @returns {Promise<{isConfirmed: boolean, problems: string[], problemCount: number, states: number, pieces: number,
 *   vertices: number, uncoveredVertices: number, pairs: number, sha256: string, header: object}>}
 *   `uncoveredVertices`: kinematic ones under `skipKinematic`; pairs of elements that have no others were not tested and may intersect.
 *   `pairs`: pairs of elements proved apart, over all pieces; `sha256` of the whole file
 */
export async function checkCertificate(bytes, { onProgress, yields } = {}) {
  const verdict = { isConfirmed: false, problems: [], problemCount: 0, states: 0, pieces: 0, vertices: 0, uncoveredVertices: 0, pairs: 0, sha256: sha256(bytes), header: undefined };
  const report = (problem) => {
    if (verdict.problemCount++ < NAMED) verdict.problems.push(problem);
  };
  let read;
  try {
    read = readCertificate(bytes);
    assertShape(read);
  } catch (thrown) {
    report(thrown.message);
    return verdict;
  }
  const { header, arrays } = read;
  const { vertexCount } = header;
  const length = 3 * vertexCount;
  const count = arrays.phases.length;
  const skipKinematic = header.skipKinematic === true;
  const uncoveredVertices = skipKinematic ? arrays.kinematic.reduce((sum, flag) => sum + (flag === 1 ? 1 : 0), 0) : 0;
  Object.assign(verdict, { header, states: count, vertices: vertexCount, uncoveredVertices, pieces: count - 1 });
  const stateOf = (n) => arrays.states.subarray(n * length, (n + 1) * length);
  if (!isSame(stateOf(0), arrays.start)) report('The first state is not the start.');
  if (!isSame(stateOf(count - 1), arrays.answer)) report('The last state is not the answer.');
  const { owners } = new Elements(arrays, vertexCount, skipKinematic);
  const proof = new PieceProof();
  // The last state is a piece of its own, on which nothing moves.
  for (let n = 0; n < count; n++) {
    const s = stateOf(n);
    const e = stateOf(Math.min(n + 1, count - 1));
    checkPiece(owners, s, e, n, proof, { verdict, report });
    onProgress?.(n + 1, count);
    await yields?.();
  }
  verdict.isConfirmed = verdict.problemCount === 0;
  return verdict;
}

const isSame = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);

function assertShape({ header, arrays }) {
  const { vertexCount } = header;
  if (header.format !== 1) throw new Error(`The format is ${header.format}; this checker knows format 1.`);
  const expected = { triangles: Uint32Array, segments: Uint32Array, particles: Uint32Array, kinematic: Uint8Array, phases: Uint8Array, steps: Uint32Array };
  for (const [name, Type] of Object.entries(expected)) {
    if (!(arrays[name] instanceof Type)) throw new Error(`The array ${name} is missing, or has another type than it must have.`);
  }
  for (const name of ['states', 'start', 'answer']) {
    const array = arrays[name];
    if (!(array instanceof Float32Array || array instanceof Float64Array)) throw new Error(`The array ${name} is missing.`);
    if (!array.every(Number.isFinite)) throw new Error(`The array ${name} has a coordinate that is not finite.`);
  }
  const count = arrays.phases.length;
  const sizes = { start: 3 * vertexCount, answer: 3 * vertexCount, states: 3 * vertexCount * count, kinematic: vertexCount, steps: count };
  for (const [name, size] of Object.entries(sizes)) {
    if (arrays[name].length !== size) throw new Error(`The array ${name} has ${arrays[name].length} numbers; it must have ${size}.`);
  }
  if (count === 0) throw new Error('There is no state.');
  for (const [name, size] of Object.entries({ triangles: 3, segments: 2, particles: 1 })) {
    if (arrays[name].length % size !== 0) throw new Error(`The array ${name} is no list of elements.`);
    if (arrays[name].some((v) => v >= vertexCount)) throw new Error(`The array ${name} names a vertex that does not exist.`);
  }
}

/** Pairs at rest were proved apart at the end of the piece before; the first piece and the last state look at all. */
function checkPiece(owners, s, e, n, proof, { verdict, report }) {
  const boxes = new Map();
  const boxAt = (element, ids) => {
    let box = boxes.get(element);
    if (!box) {
      box = boxOf(ids, s, e);
      boxes.set(element, box);
    }
    return box;
  };
  const isLast = s === e || isSame(s, e);
  const name = (ids) => (ids.length === 1 ? `vertex ${ids[0]}` : ids.length === 2 ? `edge ${ids.join('-')}` : `triangle ${ids.join('-')}`);
  const test = (a, b, aIds, bIds) => {
    if ((a.isInner && b.isInner) || aIds.some((v) => bIds.includes(v))) return;
    if (!overlap(boxAt(a, aIds), 0, boxAt(b, bIds), 0)) return;
    verdict.pairs++;
    if (!proof.holds(s, e, aIds, bIds)) report(`${isLast ? `State ${n}` : `Piece ${n}, from state ${n} to state ${n + 1}`}: ${name(aIds)} and ${name(bIds)} may meet.`);
  };
  const testState = (edge, triangle) => {
    const [p, q] = edge.ids;
    const [a, b, c] = triangle.corners;
    if (p === a || p === b || p === c || q === a || q === b || q === c) return;
    if (triangle.isInner && edge.isRigid) return;
    if (!overlap(boxOf(edge.ids, s, s), 0, boxOf(triangle.corners, s, s), 0)) return;
    if (pierces(s, p, q, a, b, c)) report(`State ${n}: edge ${p}-${q} passes through triangle ${a}-${b}-${c}.`);
  };
  new Tree(owners, s, e).forEachPair(n === 0 || isLast, (i, j) => {
    const A = owners[i];
    const B = owners[j];
    for (const [one, other] of [[A, B], [B, A]]) {
      for (const vertex of one.vertices) {
        const isParticle = one.isParticle;
        // Vertices meet triangles; particles also meet rods, and each other.
        if (other.isTriangle || (isParticle && !other.isParticle)) test(vertex, other, vertex.ids, other.corners);
        else if (isParticle && other.isParticle && one === A) test(vertex, other, vertex.ids, other.corners);
      }
      if (other.isTriangle) for (const edge of one.edges) testState(edge, other);
    }
    for (const edge of A.edges) for (const other of B.edges) test(edge, other, edge.ids, other.ids);
  });
}

// ---- 6. on the command line

/**
 * Whether Node was started with this file. Files are compared, and not names: a copy may be called `certificate
 * (1).mjs`, a link anything, and a program that imports this file may have its name.
 */
async function isStarted() {
  if (typeof process === 'undefined' || !process.argv?.[1]) return false;
  const [{ realpath }, { fileURLToPath }] = [await import('node:fs/promises'), await import('node:url')];
  const [started, own] = await Promise.all([process.argv[1], fileURLToPath(import.meta.url)].map((path) => realpath(path).catch(() => {})));
  return started !== undefined && started === own;
}

if (await isStarted()) {
  const { readFile } = await import('node:fs/promises');
  const [file, ...more] = process.argv.slice(2);
  const usage = 'usage: node certificate.mjs FILE\n';
  // Exit code 0 means confirmed, so a page of help does not end with it.
  if (file === undefined || file === '--help' || more.length > 0) {
    process.stderr.write(usage);
    process.exit(2);
  }
  const bytes = await readFile(file).catch((error) => {
    process.stderr.write(`Cannot read ${file}: ${error.message}.\n${usage}`);
    process.exit(2);
  });
  const verdict = await checkCertificate(bytes, {
    onProgress: (done, all) => process.stderr.isTTY && process.stderr.write(`\rstate ${done} of ${all}`),
  });
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  for (const problem of verdict.problems) process.stdout.write(`${problem}\n`);
  const { states, pieces, vertices, uncoveredVertices, pairs } = verdict;
  process.stdout.write(
    verdict.isConfirmed
      ? `confirmed: ${vertices} vertices, ${states} states, ${pieces} pieces; ${pairs} pairs that came near were proved apart\n`
      : `refused: ${verdict.problemCount} ${verdict.problemCount === 1 ? 'problem' : 'problems'}\n`,
  );
  if (uncoveredVertices > 0) process.stdout.write(`not covered: pairs of elements whose vertices all belong to the ${uncoveredVertices} kinematic ones\n`);
  process.stdout.write(`sha256 ${verdict.sha256}\n`);
  process.exit(verdict.isConfirmed ? 0 : 1);
}
