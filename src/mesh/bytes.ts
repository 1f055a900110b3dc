/**
 * Bytes of memory that the typed arrays in values keep: looks into plain data, arrays, maps and objects of classes (fields
 * that are truly private excepted), counts each buffer once, and all of it where an array is a view of a part.
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
