import type protobuf from 'protobufjs/minimal.js';
import { generated } from './generated/contract.js';
import { UnreadField } from './reader.js';

/** What the generated code offers for a message; the objects are in the library's own terms (see decode and encode). */
export interface StaticMessage {
  /** every parameter after the first belongs to the generated code */
  decode(reader: protobuf.Reader, ...inner: unknown[]): object;
  encode(message: object, ...inner: unknown[]): protobuf.Writer;
}

/**
 * Encoder and decoder of every message by its name. Generated code finds the decoders of nested messages under these
 * names too, so that the innermost one can tell where a field was that it could not read.
 */
export const STATIC_CODE: Readonly<Record<string, StaticMessage>> = generated;

for (const [name, message] of Object.entries(STATIC_CODE)) {
  const decode = message.decode;
  message.decode = (...given) => {
    try {
      return decode(...given);
    } catch (thrown) {
      if (thrown instanceof UnreadField) thrown.owner ??= name;
      throw thrown;
    }
  };
}
