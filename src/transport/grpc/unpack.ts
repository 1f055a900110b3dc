import { createGunzip, createInflate } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import type { CallInternals } from './library-internals.js';
import type { MessageMeter } from './message-meter.js';

/** Bytes before a message. */
const PREFIX_BYTES = 5;

/**
 * Makes the library unpack the compressed messages of a call within the ledger: every piece is charged before it is
 * kept, so a message that unpacks to a thousand times its size is stopped when there is no more room. The library alone
 * would stop it only at the largest message size.
 *
 * @param toStatus the status of a refusal
 */
export function unpackWithin(
  call: CallInternals,
  meter: MessageMeter,
  maxMessageBytes: number,
  toStatus: (refusal: unknown) => object,
): void {
  const unpackOther = call.decompressMessage.bind(call);
  call.decompressMessage = (message, encoding) => {
    const { charge, drop } = meter.unpackNext();
    if (encoding !== 'gzip' && encoding !== 'deflate') return unpackOther(message, encoding);
    return unpack(message.subarray(PREFIX_BYTES), encoding, (bytes) => {
      if (bytes > maxMessageBytes) throw largerThan(maxMessageBytes);
      try {
        charge(bytes);
      } catch (refusal) {
        throw drop(refusal) ? DROPPED : toStatus(refusal);
      }
    }).catch((thrown: unknown) => {
      if (thrown === DROPPED) return Buffer.alloc(0);
      throw thrown;
    });
  };
}

/** @param check gets the size so far, and throws to stop @throws that, or the library's status of a broken message */
async function unpack(packed: Buffer, encoding: 'gzip' | 'deflate', check: (bytes: number) => void): Promise<Buffer> {
  const unpacker = encoding === 'gzip' ? createGunzip() : createInflate();
  unpacker.end(packed);
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of unpacker) {
      bytes += (piece as Buffer).byteLength;
      check(bytes);
      pieces.push(piece as Buffer);
    }
  } catch (thrown) {
    throw thrown instanceof Error ? BROKEN : thrown;
  }
  return Buffer.concat(pieces, bytes);
}

/** Marks a message that its own answer refuses. */
const DROPPED = {};

/** In the words of the library. */
const BROKEN = { code: status.INTERNAL, details: 'Failed to decompress message' };
const largerThan = (bytes: number) => ({
  code: status.RESOURCE_EXHAUSTED,
  details: `Received message that decompresses to a size larger than ${bytes}`,
});
