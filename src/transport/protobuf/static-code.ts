import protobuf from 'protobufjs/minimal.js';
import { IntersticeError } from '../../contract/errors.js';
import { MAX_FIELDS } from '../messages/wire-message.js';
import { generated } from './generated/contract.js';

/** The generated code of one message. Its objects follow the conventions of the library (decode.ts, encode.ts). */
export interface StaticMessage {
  /** Parameters after the first are internal to the generated code. */
  decode(reader: protobuf.Reader, ...inner: unknown[]): object;
  encode(message: object, ...inner: unknown[]): protobuf.Writer;
}

/**
 * Encoder and decoder of every message by its name. Generated code also looks up the decoders of nested messages here,
 * so that the innermost message adds its name to an {@link UnreadField}.
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

const WIRE_TYPES = ['varint', '64-bit', 'length-delimited', 'group', 'end of group', '32-bit'];

/**
 * A reader that refuses the fields that the reader of the library would skip, and too many of them; an item of a list of
 * numbers counts as one.
 */
export class StrictReader extends protobuf.BufferReader {
  private fields = 0;

  override tag(): number {
    this.count(1);
    return super.tag();
  }

  override uint32s(list?: number[]): number[] {
    this.countItems();
    return super.uint32s(list);
  }

  override int32s(list?: number[]): number[] {
    this.countItems();
    return super.int32s(list);
  }

  override uint64s(list?: Parameters<protobuf.Reader['uint64s']>[0]): ReturnType<protobuf.Reader['uint64s']> {
    this.countItems();
    return super.uint64s(list);
  }

  override doubles(list?: number[]): number[] {
    this.countItems(8);
    return super.doubles(list);
  }

  /**
   * A list of numbers is one field, but each item becomes a JavaScript number.
   *
   * @param bytes of an item; 0 = a varint
   */
  private countItems(bytes = 0): void {
    const { pos, buf, len } = this;
    const size = this.uint32();
    const end = Math.min(len, this.pos + size);
    if (bytes > 0) this.count((end - this.pos) / bytes);
    else for (let at = this.pos; at < end; at++) if (buf[at]! < 0x80) this.count(1);
    this.pos = pos;
  }

  private count(fields: number): void {
    this.fields += fields;
    if (this.fields <= MAX_FIELDS) return;
    throw new IntersticeError('TOO_LARGE', `The body has more than ${MAX_FIELDS} fields and numbers in lists.`, {
      hint: 'Send bulk arrays as the bytes fields of the contract.',
    });
  }

  /**
   * Generated code calls this for an unknown field, or one with an unexpected wire type. Skipping it would silently
   * drop data of the caller, e.g. a parameter of a newer client or a mesh that was encoded by hand.
   */
  override skipType(wireType: number, _depth?: number, fieldNumber = 0): this {
    const kind = WIRE_TYPES[wireType];
    if (kind === undefined || wireType === 4 || fieldNumber === 0) {
      throw new RangeError(`No field can start with number ${fieldNumber} and wire type ${wireType}.`);
    }
    throw new UnreadField(fieldNumber, kind);
  }
}

/** A field that its message does not define. */
export class UnreadField extends Error {
  /** Name of the message that contains it. */
  owner: string | undefined;

  constructor(
    readonly fieldNumber: number,
    readonly wireType: string,
  ) {
    super(`Field ${fieldNumber} has wire type ${wireType}.`);
  }
}
