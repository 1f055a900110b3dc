/** What a writer hands over at a time, about. */
export const CHUNK_BYTES = 2 ** 16;

/** Joins pieces of ASCII text to chunks. */
export function* encodeText(pieces: Iterable<string>): Generator<Uint8Array> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length >= CHUNK_BYTES) {
      yield Buffer.from(text, 'latin1');
      text = '';
    }
  }
  if (text !== '') yield Buffer.from(text, 'latin1');
}

/**
 * Joins binary records to chunks; a chunk that was handed over is its receiver's.
 *
 * @param sizeOf bytes of record i
 * @param write puts record i at the offset
 */
export function* encodeRecords(
  count: number,
  sizeOf: (index: number) => number,
  write: (view: DataView, offset: number, index: number) => void,
): Generator<Uint8Array> {
  let view = new DataView(new ArrayBuffer(CHUNK_BYTES));
  let length = 0;
  for (let index = 0; index < count; index++) {
    const size = sizeOf(index);
    if (length + size > view.byteLength) {
      if (length > 0) yield new Uint8Array(view.buffer, 0, length);
      view = new DataView(new ArrayBuffer(Math.max(CHUNK_BYTES, size)));
      length = 0;
    }
    write(view, length, index);
    length += size;
  }
  if (length > 0) yield new Uint8Array(view.buffer, 0, length);
}
