import type { TransferListItem } from 'node:worker_threads';
import { IntersticeError, type PlainError } from '../../contract/errors.js';
import { type DecodedJson, decodeJson } from './decode.js';
import { encodeJson } from './encode.js';
import { parseJson } from './parse.js';
import type { WireMessage } from './wire.js';

/** What the coder's thread is asked, and what it answers: plain data that survives structured cloning. */

/** Bytes of JSON to be read. */
export interface DecodeTask {
  readonly kind: 'decode';
  /** message of the contract, or `Options`; undefined: only whether it is JSON is of interest */
  readonly type: string | undefined;
  readonly bytes: Uint8Array;
  /** named in refusals of what is no JSON: "The body", "options" */
  readonly what: string;
  /** prefix of the places named in refusals of what is JSON */
  readonly path: string;
  /** `null` is an empty message; default false */
  readonly takesNull?: boolean;
}

/** A message of the contract to be written. */
export interface EncodeTask {
  readonly kind: 'encode';
  readonly type: string;
  readonly message: object;
  readonly arrays: boolean;
}

export type CoderTask = DecodeTask | EncodeTask;

export type CoderReply =
  | { readonly kind: 'decoded'; readonly decoded: DecodedJson }
  | { readonly kind: 'refused'; readonly error: PlainError; readonly isJson: boolean }
  | { readonly kind: 'encoded'; readonly written: WrittenJson }
  /** not foreseen: what was thrown */
  | { readonly kind: 'failed'; readonly thrown: unknown };

/** What a body of JSON says, or why it is refused. */
export type Reading =
  | { readonly decoded: DecodedJson }
  | {
      readonly refusal: IntersticeError;
      /** the text is JSON, and what it says is refused */
      readonly isJson: boolean;
    };

/** Reads a body. @throws what nobody foresaw only: a refusal is an answer here */
export function readJson({ type, bytes, what, path, takesNull = false }: Omit<DecodeTask, 'kind'>): Reading {
  let isJson = false;
  try {
    const value = parseJson(bytes, what);
    isJson = true;
    const isEmpty = type === undefined || (takesNull && value === null);
    return { decoded: isEmpty ? { message: {}, usedArrays: false } : decodeJson(type, value, path) };
  } catch (thrown) {
    if (!(thrown instanceof IntersticeError)) throw thrown;
    return { refusal: thrown, isJson };
  }
}

/** JSON as UTF-8. */
export interface WrittenJson {
  /** memory of its own, longer than the text */
  readonly bytes: Uint8Array;
  /** of the text, bytes */
  readonly length: number;
}

/** Bytes behind an encoded message that its receiver may write to: a report goes there, see {@link appendMember}. */
const ROOM = 16 * 1024;

/** The JSON text of a message. @param type message of the contract @param message as {@link encodeJson} takes it */
export function writeJson(type: string, message: object, arrays: boolean): WrittenJson {
  const text = JSON.stringify(encodeJson(type, message, { arrays }));
  const length = Buffer.byteLength(text);
  // Never from Node's pool: nobody else's bytes lie beside the message, and the memory can be given away.
  const bytes = Buffer.alloc(length + ROOM);
  bytes.write(text);
  return { bytes, length };
}

/**
 * One more member, the last, of a JSON object.
 * @param object what {@link writeJson} gave; its memory is written to, or left for larger one
 * @param json value of the member
 */
export function appendMember({ bytes, length }: WrittenJson, name: string, json: string): Buffer {
  const isFirst = length === 2;
  const member = Buffer.from(`${isFirst ? '' : ','}${JSON.stringify(name)}:${json}}`);
  // In place of the brace that closes the object.
  const at = length - 1;
  const object = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (at + member.length > object.length) return Buffer.concat([object.subarray(0, at), member]);
  object.set(member, at);
  return object.subarray(0, at + member.length);
}

/** Does a task. The reply's arrays are given away with it, not copied. */
export function work(task: CoderTask): { readonly reply: CoderReply; readonly transfer: TransferListItem[] } {
  try {
    if (task.kind === 'encode') {
      const written = writeJson(task.type, task.message, task.arrays);
      return { reply: { kind: 'encoded', written }, transfer: [written.bytes.buffer as ArrayBuffer] };
    }
    const reading = readJson(task);
    if ('refusal' in reading) {
      const { refusal, isJson } = reading;
      return { reply: { kind: 'refused', error: refusal.toPlain(), isJson }, transfer: [] };
    }
    const transfer: TransferListItem[] = [];
    const message = toSend(reading.decoded.message, transfer) as WireMessage;
    return { reply: { kind: 'decoded', decoded: { ...reading.decoded, message } }, transfer };
  } catch (thrown) {
    return { reply: { kind: 'failed', thrown }, transfer: [] };
  }
}

/** From here a list of numbers crosses as an array of doubles: cloning it element by element holds up who receives it. */
const LONG_LIST = 1024;

/** A decoded message as it crosses threads: what has memory of its own is given away, what lies in Node's pool is copied. */
function toSend(value: unknown, transfer: TransferListItem[]): unknown {
  if (ArrayBuffer.isView(value)) {
    const view = new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength);
    const own = view.byteLength === view.buffer.byteLength ? view : Uint8Array.from(view);
    transfer.push(own.buffer);
    return own;
  }
  if (Array.isArray(value)) {
    if (value.length < LONG_LIST || typeof value[0] !== 'number') return value.map((item) => toSend(item, transfer));
    const numbers = Float64Array.from(value as number[]);
    transfer.push(numbers.buffer);
    return numbers;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, toSend(part, transfer)]));
}
