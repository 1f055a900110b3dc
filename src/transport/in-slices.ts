import { setImmediate } from 'node:timers/promises';
import { encodeJson } from './json/encode.js';
import { type FieldShape, messageShape } from './json/schema.js';
import { encodeMessage } from './protobuf/codec.js';

/** Items of a list that are encoded before others get a turn: some milliseconds. */
const SLICE_ITEMS = 2000;

/**
 * The bytes of {@link encodeJson}'s text. A message whose lists are long (the pairs of a check) is encoded slice by slice,
 * and the event loop turns between: objects by the thousand cost as much to hand to a thread as to encode here.
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

/** The bytes of {@link encodeMessage}, as {@link encodeJsonInSlices} makes JSON: a repeated field is encoded item by item. */
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
