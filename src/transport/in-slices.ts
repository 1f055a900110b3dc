import { setImmediate } from 'node:timers/promises';
import type { TransferListItem } from 'node:worker_threads';
import { encodeJson } from './json/encode.js';
import { type FieldShape, messageShape } from './messages/schema.js';
import { encodeMessage } from './protobuf/encode.js';

/** Does long work on the event loop in slices; other requests run between them. */

/** List items that are encoded at a time: some milliseconds. */
const SLICE_ITEMS = 2000;

/**
 * Encodes a message like {@link encodeJson}, with long lists (the pairs of a check) in slices. Transferring thousands
 * of objects to a thread would cost as much as encoding them here.
 *
 * @param type message of the contract
 */
export async function encodeJsonInSlices(type: string, message: object): Promise<Buffer> {
  const long = longListsOf(type, message);
  const short = Object.fromEntries(Object.entries(message).map(([name, value]) => [name, long.has(name) ? [] : value]));
  const pieces: Buffer[] = [];
  let text = '{';
  let isFirst = true;
  for (const [name, value] of Object.entries(encodeJson(type, short, { arrays: false }))) {
    text += `${isFirst ? '' : ','}${JSON.stringify(name)}:`;
    isFirst = false;
    const list = long.get(name);
    if (!list) {
      text += JSON.stringify(value);
      continue;
    }
    text += '[';
    for (let i = 0; i < list.length; i += SLICE_ITEMS) {
      const items = encodeJson(type, { [name]: list.slice(i, i + SLICE_ITEMS) }, { arrays: false })[name];
      pieces.push(Buffer.from(`${text}${JSON.stringify(items).slice(1, -1)}`));
      text = i + SLICE_ITEMS < list.length ? ',' : ']';
      await setImmediate();
    }
  }
  pieces.push(Buffer.from(`${text}}`));
  return Buffer.concat(pieces);
}

/** Encodes a message like {@link encodeMessage}, with long lists in slices. */
export async function encodeMessageInSlices(type: string, message: object): Promise<Uint8Array> {
  const long = longListsOf(type, message);
  if (long.size === 0) return encodeMessage(type, message);
  const values = message as Readonly<Record<string, unknown>>;
  const byNumber = (a: FieldShape, b: FieldShape) => a.number - b.number;
  const pieces: Uint8Array[] = [];
  for (const { jsonName } of [...messageShape(type).fields].sort(byNumber)) {
    const list = long.get(jsonName);
    if (!list) pieces.push(encodeMessage(type, { [jsonName]: values[jsonName] }));
    for (let i = 0; list && i < list.length; i += SLICE_ITEMS) {
      pieces.push(encodeMessage(type, { [jsonName]: list.slice(i, i + SLICE_ITEMS) }));
      await setImmediate();
    }
  }
  return Buffer.concat(pieces);
}

function longListsOf(type: string, message: object): ReadonlyMap<string, readonly unknown[]> {
  const values = message as Readonly<Record<string, unknown>>;
  const lists = new Map<string, readonly unknown[]>();
  for (const { jsonName } of messageShape(type).fields) {
    const value = values[jsonName];
    if (Array.isArray(value) && value.length > SLICE_ITEMS) lists.set(jsonName, value);
  }
  return lists;
}

/** Bytes that are copied at a time: about a millisecond if the memory is new to the process. */
const SLICE_BYTES = 1 << 20;

/**
 * Copies plain data for the transfer to another thread, since the owner of an answer may keep its arrays (a session
 * does). Large arrays are copied in slices.
 */
export async function copyInSlices<T>(value: T): Promise<{ readonly value: T; readonly transfer: TransferListItem[] }> {
  const transfer: TransferListItem[] = [];
  const copy = async (item: unknown): Promise<unknown> => {
    if (ArrayBuffer.isView(item)) {
      const own = await copyOf(item);
      transfer.push(own.buffer as ArrayBuffer);
      return own;
    }
    // Lists in answers are short and contain no typed arrays; they are cloned.
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
    const parts: [string, unknown][] = [];
    for (const [name, part] of Object.entries(item)) parts.push([name, await copy(part)]);
    return Object.fromEntries(parts);
  };
  return { value: (await copy(value)) as T, transfer };
}

async function copyOf(array: ArrayBufferView): Promise<ArrayBufferView> {
  const from = new Uint8Array(array.buffer as ArrayBuffer, array.byteOffset, array.byteLength);
  const to = new Uint8Array(from.length);
  for (let at = 0; at < from.length; at += SLICE_BYTES) {
    if (at > 0) await setImmediate();
    to.set(from.subarray(at, at + SLICE_BYTES), at);
  }
  if (Buffer.isBuffer(array)) return to;
  return new (array.constructor as new (buffer: ArrayBuffer) => ArrayBufferView)(to.buffer);
}

/** Total size of all typed arrays in plain data. */
export function bulkBytes(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 0;
  return Object.values(value).reduce<number>((sum, part) => sum + bulkBytes(part), 0);
}
