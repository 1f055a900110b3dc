import protobuf from 'protobufjs/minimal.js';
import { IntersticeError } from '../../contract/errors.js';

/**
 * Fields in one body. No honest request comes near it (a mesh of many thousand parts has some ten thousand), but two
 * bytes make an empty part, so that a body within the size limit could otherwise fill the memory with objects.
 */
export const MAX_FIELDS = 1 << 20;

const WIRE_TYPES = ['varint', '64-bit', 'length-delimited', 'group', 'end of group', '32-bit'];

/** The library's reader without its leniency: what it would skip over is refused. */
export class StrictReader extends protobuf.BufferReader {
  private fields = 0;

  override tag(): number {
    if (++this.fields > MAX_FIELDS) {
      throw new IntersticeError('TOO_LARGE', `The body has more than ${MAX_FIELDS} fields.`, {
        hint: 'Send bulk arrays as the bytes fields of the contract.',
      });
    }
    return super.tag();
  }

  /**
   * Generated code comes here with a field that the message does not have, or that has another wire type. Passing over
   * it would drop what somebody meant: a newer client's parameter, or a mesh encoded by hand.
   */
  override skipType(wireType: number, _depth?: number, fieldNumber = 0): this {
    const kind = WIRE_TYPES[wireType];
    if (kind === undefined || wireType === 4 || fieldNumber === 0) {
      throw new RangeError(`no field can start like this (number ${fieldNumber}, wire type ${wireType})`);
    }
    throw new UnreadField(fieldNumber, kind);
  }
}

/** A field that nothing in its message answers to. */
export class UnreadField extends Error {
  /** name of the message that it stood in */
  owner: string | undefined;

  constructor(
    readonly fieldNumber: number,
    readonly wireType: string,
  ) {
    super(`field ${fieldNumber} of wire type ${wireType}`);
  }
}
