import type { TransferListItem } from 'node:worker_threads';
import { IntersticeError, type PlainError } from '../../contract/errors.js';
import type { WireMessage } from '../messages/wire-message.js';
import { type DecodedJson, decodeJson } from './decode.js';
import { encodeJson } from './encode.js';
import { parseJson } from './parse.js';

/** Tasks and replies of the JSON thread: plain data that can be cloned between threads. */

/** JSON to be decoded. */
export interface DecodeTask {
  readonly kind: 'decode';
  /** Message of the contract, or `Options`; undefined: only the syntax is checked. */
  readonly type: string | undefined;
  readonly bytes: Uint8Array;
  /** Names the text in syntax errors: "The body", "options". */
  readonly what: string;
  /** Prefix of the paths in other errors. */
  readonly path: string;
  /** Whether `null` is an empty message; default false. */
  readonly acceptsNull?: boolean;
}

/** A message of the contract to be encoded. */
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
  /** An unexpected exception. */
  | { readonly kind: 'failed'; readonly thrown: unknown };

/** A decoded message, or the error that the text causes. */
export type Reading =
  | { readonly decoded: DecodedJson }
  | {
      readonly error: IntersticeError;
      /** Whether the text is valid JSON. */
      readonly isJson: boolean;
    };

/** Decodes JSON. @throws unexpected exceptions only */
export function readJson({ type, bytes, what, path, acceptsNull = false }: Omit<DecodeTask, 'kind'>): Reading {
  let isJson = false;
  try {
    const value = parseJson(bytes, what);
    isJson = true;
    const isEmpty = type === undefined || (acceptsNull && value === null);
    return { decoded: isEmpty ? { message: {}, usedArrays: false } : decodeJson(type, value, path) };
  } catch (thrown) {
    if (!(thrown instanceof IntersticeError)) throw thrown;
    return { error: thrown, isJson };
  }
}

/** JSON as UTF-8. */
export interface WrittenJson {
  /** Memory without other owners, longer than the text. */
  readonly bytes: Uint8Array;
  /** Length of the text in bytes. */
  readonly length: number;
}

/** Free bytes after an encoded message for its report, see {@link appendMember}. */
const ROOM = 16 * 1024;

/** Encodes a message as JSON. @param type message of the contract @param message as for {@link encodeJson} */
export function writeJson(type: string, message: object, arrays: boolean): WrittenJson {
  const text = JSON.stringify(encodeJson(type, message, { arrays }));
  const length = Buffer.byteLength(text);
  // Not from Node's pool, so that the memory can be transferred.
  const bytes = Buffer.alloc(length + ROOM);
  bytes.write(text);
  return { bytes, length };
}

/**
 * Adds a last member to a JSON object, in place if there is room.
 * @param object result of {@link writeJson}
 * @param json value of the member
 */
export function appendMember({ bytes, length }: WrittenJson, name: string, json: string): Buffer {
  const isFirst = length === 2;
  const member = Buffer.from(`${isFirst ? '' : ','}${JSON.stringify(name)}:${json}}`);
  // Overwrites the closing brace.
  const at = length - 1;
  const object = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (at + member.length > object.length) return Buffer.concat([object.subarray(0, at), member]);
  object.set(member, at);
  return object.subarray(0, at + member.length);
}

/** Does a task. The arrays of the reply are transferred, not copied. */
export function work(task: CoderTask): { readonly reply: CoderReply; readonly transfer: TransferListItem[] } {
  try {
    if (task.kind === 'encode') {
      const written = writeJson(task.type, task.message, task.arrays);
      return { reply: { kind: 'encoded', written }, transfer: [written.bytes.buffer as ArrayBuffer] };
    }
    const reading = readJson(task);
    if ('error' in reading) {
      const { error, isJson } = reading;
      return { reply: { kind: 'refused', error: error.toPlain(), isJson }, transfer: [] };
    }
    const transfer: TransferListItem[] = [];
    const message = toSend(reading.decoded.message, transfer) as WireMessage;
    return { reply: { kind: 'decoded', decoded: { ...reading.decoded, message } }, transfer };
  } catch (thrown) {
    return { reply: { kind: 'failed', thrown }, transfer: [] };
  }
}

/** Length from which a list of numbers is sent as a Float64Array: cloning by elements would block the receiver. */
const LONG_LIST = 1024;

/** Prepares a decoded message: arrays with their own memory are transferred, those in Node's pool are copied. */
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
