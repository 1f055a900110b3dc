import protobuf from 'protobufjs/minimal.js';
import { decodeMessage } from '../../src/transport/protobuf/codec.js';

/** Numbers of the fields on the way to our Error: google.rpc.Status.details, google.protobuf.Any.value. */
const DETAILS = 3;
const VALUE = 2;

/** The contract's code in `grpc-status-details-bin`; undefined where there is none. */
export function codeInDetails(trailer: Uint8Array | undefined): string | undefined {
  const any = trailer && bytesOf(trailer, DETAILS);
  const error = any && bytesOf(any, VALUE);
  return error && String(decodeMessage('Error', error).code);
}

/** The first bytes field of this number. */
function bytesOf(message: Uint8Array, number: number): Uint8Array | undefined {
  const reader = protobuf.Reader.create(message);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === number) return reader.bytes();
    reader.skipType(tag & 7);
  }
  return undefined;
}
