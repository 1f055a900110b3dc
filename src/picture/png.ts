import { PNG } from 'pngjs';

/**
 * Encodes a picture as PNG, eight bits per channel, without transparency.
 * @param pixels uint8[3·width·height] red, green, blue, top row first
 */
export function encodePng(width: number, height: number, pixels: Uint8Array): Buffer {
  if (pixels.length !== 3 * width * height)
    throw new Error(`A picture of ${width} × ${height} pixels cannot have ${pixels.length} bytes.`);
  const png = new PNG({ width, height });
  png.data = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.byteLength);
  return PNG.sync.write(png, { inputHasAlpha: false, colorType: 2, deflateLevel: 9 });
}
