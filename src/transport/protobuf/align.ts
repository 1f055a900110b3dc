/** Most typed arrays of the contract have elements of so many bytes; a field of doubles is aligned by this half of the time. */
const ALIGNMENT = 4;

/**
 * Length from which a field may be moved: one byte says which field it is, and the length takes three more, so that a move by
 * up to three bytes stays within the field's own head, which has been read.
 */
const LARGE_BYTES = 1 << 14;

/**
 * Moves the bytes of a large field to the aligned place before them: a typed array that cannot lie where they came needs a
 * copy, and memory that is new to the process costs ten times what moving does.
 *
 * @param field a view of a decoded message that nobody else looks at; its old place must not be used any more
 * @returns the same bytes, `byteOffset` a multiple of {@link ALIGNMENT} if they are large
 */
export function alignInPlace(field: Uint8Array): Uint8Array {
  const shift = field.byteOffset % ALIGNMENT;
  if (shift === 0 || field.byteLength < LARGE_BYTES) return field;
  const moved = Buffer.from(field.buffer, field.byteOffset - shift, shift + field.byteLength);
  moved.copyWithin(0, shift);
  return moved.subarray(0, field.byteLength);
}
