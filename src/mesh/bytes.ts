/**
 * Bytes of memory that the typed arrays in the values keep alive. Searches plain data, arrays, maps and instances of
 * classes (except #private fields), and counts each whole buffer once, even if an array views only a part of it.
 */
export function bytesOf(...values: unknown[]): number {
  const buffers = new Set<ArrayBufferLike>();
  const visit = (item: unknown): void => {
    if (ArrayBuffer.isView(item)) buffers.add(item.buffer);
    else if (item instanceof Map) for (const part of item.values()) visit(part);
    else if (typeof item === 'object' && item !== null) for (const part of Object.values(item)) visit(part);
  };
  values.forEach(visit);
  let sum = 0;
  for (const buffer of buffers) sum += buffer.byteLength;
  return sum;
}
