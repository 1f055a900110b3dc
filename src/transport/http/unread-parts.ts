import type { IncomingMessage } from 'node:http';

/**
 * Counts the parts of a form that its parser drops without a word, because it finds no name in their headers. Call it
 * before the form is read. The count is a private field of @fastify/busboy: its public interface reports nothing about
 * such a part except that the limit of parts is reached, and its public Dicer would search all bytes of the form a second
 * time. Without the field, nothing counts as dropped.
 *
 * @param onBytes called with the size of every chunk, before the parser gets it
 * @returns how many parts have begun, beyond the `delivered` ones
 */
export function watchParts(raw: IncomingMessage, onBytes: (bytes: number) => void): (delivered: number) => number {
  let parser: unknown;
  const pipe = raw.pipe;
  raw.pipe = (destination, options) => {
    parser = destination;
    raw.pipe = pipe;
    raw.on('data', (chunk: Uint8Array) => onBytes(chunk.byteLength));
    return pipe.call(raw, destination, options) as typeof destination;
  };
  return (delivered) => {
    const begun = (parser as { _parser?: { _nparts?: unknown } } | undefined)?._parser?._nparts;
    return typeof begun === 'number' ? begun - delivered : 0;
  };
}
