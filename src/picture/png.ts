import { deflateSync, crc32 as zlibCrc32 } from 'node:zlib';

export const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/** zlib has crc32 from Node 20.15 on; the table serves earlier versions. */
const crc32 = (bytes: Uint8Array): number => {
  if (typeof zlibCrc32 === 'function') return zlibCrc32(bytes);
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
};

/** A chunk of a PNG file: its length, type, data and checksum. */
export const chunk = (type: string, data: Uint8Array): Buffer => {
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  out.set(data, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
  return out;
};

/** Each row minus the row above it (filter 2), with which smooth pictures compress to about half. */
const filterRows = (width: number, height: number, pixels: Uint8Array): Uint8Array => {
  const stride = 3 * width;
  const rows = new Uint8Array((stride + 1) * height);
  for (let y = 0; y < height; y++) {
    rows[y * (stride + 1)] = 2;
    for (let i = 0; i < stride; i++) {
      const above = y === 0 ? 0 : pixels[(y - 1) * stride + i];
      rows[y * (stride + 1) + 1 + i] = pixels[y * stride + i] - above;
    }
  }
  return rows;
};

/**
 * Encodes a picture as PNG, eight bits per channel, without transparency.
 * @param pixels uint8[3·width·height] red, green, blue, top row first
 */
export function encodePng(width: number, height: number, pixels: Uint8Array): Buffer {
  if (pixels.length !== 3 * width * height)
    throw new Error(`A picture of ${width} × ${height} pixels cannot have ${pixels.length} bytes.`);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    PNG_SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(filterRows(width, height, pixels), { level: 9 })),
    chunk('IEND', new Uint8Array(0)),
  ]);
}
