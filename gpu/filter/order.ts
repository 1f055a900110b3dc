/** Bits a coordinate in a Morton code: three of them fill 30 bits. */
const AXIS_BITS = 10;
const CELLS = 2 ** AXIS_BITS;
const DIGIT_BITS = 15;

/**
 * Elements along a Morton curve through their centres, so that neighbours in the order are neighbours in space. It decides
 * how tight the tree is, never what is found: every element is in it once.
 *
 * @param vertices uint32[size·N]
 * @param x float32[3·V] within ±1
 * @returns uint32[N] element by place
 */
export function orderElements(vertices: Uint32Array, size: 2 | 3, x: Float32Array): Uint32Array<ArrayBuffer> {
  const count = vertices.length / size;
  const codes = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    let code = 0;
    for (let axis = 0; axis < 3; axis++) {
      let sum = 0;
      for (let k = 0; k < size; k++) sum += x[3 * vertices[size * i + k] + axis];
      const cell = Math.floor((sum / size + 1) * (CELLS / 2));
      code |= spread(Math.max(0, Math.min(CELLS - 1, cell))) << axis;
    }
    codes[i] = code;
  }
  const first = sortByDigit(codes, undefined, 0);
  return sortByDigit(codes, first, DIGIT_BITS);
}

/** Ten bits, each followed by two zeros. */
function spread(cell: number): number {
  let bits = cell;
  bits = (bits | (bits << 16)) & 0x030000ff;
  bits = (bits | (bits << 8)) & 0x0300f00f;
  bits = (bits | (bits << 4)) & 0x030c30c3;
  return (bits | (bits << 2)) & 0x09249249;
}

/** Stable counting sort by one digit of the code. */
function sortByDigit(codes: Uint32Array, order: Uint32Array | undefined, shift: number): Uint32Array<ArrayBuffer> {
  const mask = 2 ** DIGIT_BITS - 1;
  const starts = new Uint32Array(mask + 2);
  for (const code of codes) starts[((code >>> shift) & mask) + 1]++;
  for (let digit = 0; digit <= mask; digit++) starts[digit + 1] += starts[digit];
  const sorted = new Uint32Array(codes.length);
  for (let place = 0; place < codes.length; place++) {
    const element = order ? order[place] : place;
    sorted[starts[(codes[element] >>> shift) & mask]++] = element;
  }
  return sorted;
}
