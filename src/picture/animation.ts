import { deflateSync } from 'node:zlib';
import { chunk, PNG_SIGNATURE } from './png.js';

/** One picture of an animation: uint8[3·width·height] red, green, blue, and how long it is shown. */
export interface Frame {
  readonly pixels: Uint8Array;
  readonly milliseconds: number;
}

const COLOURS = 256;
/** Bits of a channel that decide the colour of the palette: 32 levels, which smooth shading does not show. */
const BITS = 5;

/**
 * Encodes an animated PNG that repeats for ever, with one palette of 256 colours for all pictures. Each picture after the first
 * holds the rectangle in which it differs from the one before.
 */
export function encodeAnimation(width: number, height: number, frames: readonly Frame[]): Buffer {
  const palette = paletteOf(frames);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const control = Buffer.alloc(8);
  control.writeUInt32BE(frames.length, 0);
  const chunks = [chunk('IHDR', header), chunk('acTL', control), chunk('PLTE', palette.colours)];
  let sequence = 0;
  let before: Uint8Array | undefined;
  for (const { pixels, milliseconds } of frames) {
    const indices = palette.indicesOf(pixels);
    const box = before ? differing(before, indices, width, height) : { left: 0, top: 0, width, height };
    chunks.push(chunk('fcTL', frameControl(sequence++, box, milliseconds)));
    const data = deflateSync(rowsOf(indices, width, box), { level: 9 });
    if (before) {
      const numbered = Buffer.alloc(4 + data.length);
      numbered.writeUInt32BE(sequence++, 0);
      numbered.set(data, 4);
      chunks.push(chunk('fdAT', numbered));
    } else chunks.push(chunk('IDAT', data));
    before = indices;
  }
  return Buffer.concat([PNG_SIGNATURE, ...chunks, chunk('IEND', new Uint8Array(0))]);
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

function frameControl(sequence: number, box: Box, milliseconds: number): Buffer {
  const out = Buffer.alloc(26);
  [sequence, box.width, box.height, box.left, box.top].forEach((value, i) => {
    out.writeUInt32BE(value, 4 * i);
  });
  out.writeUInt16BE(milliseconds, 20);
  out.writeUInt16BE(1000, 22);
  return out;
}

/** The smallest rectangle around what differs; one pixel if nothing does, since an empty one is not allowed. */
function differing(a: Uint8Array, b: Uint8Array, width: number, height: number): Box {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let i = 0; i < a.length; i++) {
    if (a[i] === b[i]) continue;
    const x = i % width;
    const y = (i - x) / width;
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  if (right < 0) return { left: 0, top: 0, width: 1, height: 1 };
  return { left, top, width: right - left + 1, height: bottom - top + 1 };
}

/** Rows of a rectangle, each led by the filter 0. */
function rowsOf(indices: Uint8Array, stride: number, { left, top, width, height }: Box): Uint8Array {
  const rows = new Uint8Array((width + 1) * height);
  for (let y = 0; y < height; y++) {
    const from = (top + y) * stride + left;
    rows.set(indices.subarray(from, from + width), y * (width + 1) + 1);
  }
  return rows;
}

const keyOf = (r: number, g: number, b: number): number =>
  ((r >> (8 - BITS)) << (2 * BITS)) | ((g >> (8 - BITS)) << BITS) | (b >> (8 - BITS));

/** A palette by median cut: the box of colours with the largest spread times its weight is divided until there are 256. */
function paletteOf(frames: readonly Frame[]) {
  const counts = new Float64Array(2 ** (3 * BITS));
  const sums = new Float64Array(3 * counts.length);
  for (const { pixels } of frames) {
    for (let i = 0; i < pixels.length; i += 3) {
      const key = keyOf(pixels[i]!, pixels[i + 1]!, pixels[i + 2]!);
      counts[key]! += 1;
      for (let c = 0; c < 3; c++) sums[3 * key + c]! += pixels[i + c]!;
    }
  }
  const used = Array.from(counts.keys()).filter((key) => counts[key]! > 0);
  const channel = (key: number, c: number) => sums[3 * key + c]! / counts[key]!;
  const widest = (keys: readonly number[]) => {
    const spreads = [0, 1, 2].map((c) => {
      const values = keys.map((key) => channel(key, c));
      return Math.max(...values) - Math.min(...values);
    });
    const axis = spreads.indexOf(Math.max(...spreads));
    return { axis, spread: spreads[axis]! };
  };
  const boxes = [{ keys: used, ...widest(used) }];
  while (boxes.length < COLOURS) {
    boxes.sort((a, b) => b.spread - a.spread);
    const largest = boxes[0]!;
    if (largest.keys.length < 2) break;
    const sorted = [...largest.keys].sort((a, b) => channel(a, largest.axis) - channel(b, largest.axis));
    const halves = [sorted.slice(0, sorted.length >> 1), sorted.slice(sorted.length >> 1)];
    boxes.splice(0, 1, ...halves.map((keys) => ({ keys, ...widest(keys) })));
  }
  const colours = new Uint8Array(3 * boxes.length);
  const indexOf = new Uint8Array(counts.length);
  for (const [i, { keys }] of boxes.entries()) {
    const weight = keys.reduce((sum, key) => sum + counts[key]!, 0);
    for (let c = 0; c < 3; c++) {
      colours[3 * i + c] = Math.round(keys.reduce((sum, key) => sum + sums[3 * key + c]!, 0) / weight);
    }
    for (const key of keys) indexOf[key] = i;
  }
  const indicesOf = (pixels: Uint8Array) =>
    Uint8Array.from(
      { length: pixels.length / 3 },
      (_, i) => indexOf[keyOf(pixels[3 * i]!, pixels[3 * i + 1]!, pixels[3 * i + 2]!)]!,
    );
  return { colours, indicesOf };
}
