/**
 * Reads messages of the contract from protobuf bytes, so that an answer with a path of many states is one buffer
 * instead of text. This does not need the library of the service; the build generates the tables from the contract
 * (deploy/page.mjs).
 */

/** A field: its name in JSON, its type (a scalar of protobuf, or an enum or a message of the tables), and its label. */
export type FieldTable = readonly [name: string, type: string, label: 'one' | 'optional' | 'repeated'];

export interface ContractTables {
  /** by name, then by the number of the field */
  readonly messages: Readonly<Record<string, Readonly<Record<number, FieldTable>>>>;
  /** by name, then by number */
  readonly enums: Readonly<Record<string, Readonly<Record<number, string>>>>;
}

export type Decoded = Record<string, unknown>;

/**
 * Decodes a message into the form of the contract's JSON, except that bytes are views of the message and integers are
 * numbers. Fields that are not in the tables are skipped, because a newer service may send them.
 *
 * @param type a message of the tables
 * @throws RangeError for bytes that are cut off or not such a message
 */
export function decode(tables: ContractTables, type: string, bytes: Uint8Array): Decoded {
  return new Reader(tables, bytes).message(type, bytes.byteLength);
}

/** Wire types: a varint with seven bits per byte, eight bytes, a length and that many bytes, or four bytes. */
const VARINT = 0;
const EIGHT = 1;
const LENGTH = 2;
const FOUR = 5;

class Reader {
  readonly #view: DataView;
  #at = 0;

  constructor(
    private readonly tables: ContractTables,
    private readonly bytes: Uint8Array,
  ) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The message from here to before `end`. */
  message(type: string, end: number): Decoded {
    const fields = this.tables.messages[type];
    if (!fields) throw new RangeError(`${type} is no message of the contract.`);
    const decoded: Decoded = {};
    for (const [name, kind, label] of Object.values(fields)) {
      if (label === 'repeated') decoded[name] = [];
      else if (label === 'one' && !this.tables.messages[kind]) decoded[name] = this.#absent(kind);
    }
    while (this.#at < end) {
      const tag = this.#varint();
      const field = fields[Math.floor(tag / 8)];
      if (field) this.#field(field, tag % 8, decoded, end);
      else this.#skip(tag % 8, end);
    }
    if (this.#at > end) throw new RangeError(`The message ${type} goes on beyond its end.`);
    return decoded;
  }

  #absent(kind: string): unknown {
    if (kind === 'string') return '';
    if (kind === 'bytes') return new Uint8Array(0);
    if (kind === 'bool') return false;
    return this.tables.enums[kind]?.[0] ?? 0;
  }

  #field([name, kind, label]: FieldTable, wire: number, into: Decoded, end: number): void {
    const own = this.#wireOf(kind);
    if (label !== 'repeated') {
      this.#assertWire(wire, own);
      into[name] = this.#value(kind, end);
      return;
    }
    const list = into[name] as unknown[];
    if (wire === own) list.push(this.#value(kind, end));
    else {
      // The field contains consecutive numbers.
      this.#assertWire(wire, LENGTH);
      const last = this.#end(end);
      while (this.#at < last) list.push(this.#value(kind, last));
    }
  }

  #wireOf(kind: string): number {
    if (kind === 'double') return EIGHT;
    if (kind === 'float') return FOUR;
    const isVarint = this.tables.enums[kind] !== undefined || /^(uint32|uint64|bool)$/.test(kind);
    return isVarint ? VARINT : LENGTH;
  }

  #assertWire(wire: number, wanted: number): void {
    if (wire !== wanted) throw new RangeError(`The field before byte ${this.#at} has the wire type ${wire}.`);
  }

  #value(kind: string, end: number): unknown {
    const view = this.#view;
    switch (kind) {
      case 'double':
        this.#at += 8;
        return view.getFloat64(this.#at - 8, true);
      case 'float':
        this.#at += 4;
        return view.getFloat32(this.#at - 4, true);
      case 'bool':
        return this.#varint() !== 0;
      case 'uint32':
      case 'uint64':
        return this.#varint();
    }
    const names = this.tables.enums[kind];
    if (names) {
      const number = this.#varint();
      return names[number] ?? number;
    }
    const last = this.#end(end);
    if (kind !== 'bytes' && kind !== 'string') return this.message(kind, last);
    const content = this.bytes.subarray(this.#at, last);
    this.#at = last;
    return kind === 'bytes' ? content : new TextDecoder().decode(content);
  }

  /** The end of the bytes whose length comes next. */
  #end(end: number): number {
    const length = this.#varint();
    if (this.#at + length > end) throw new RangeError(`The message is cut off at byte ${end}.`);
    return this.#at + length;
  }

  #skip(wire: number, end: number): void {
    if (wire === VARINT) this.#varint();
    else if (wire === EIGHT) this.#at += 8;
    else if (wire === LENGTH) this.#at = this.#end(end);
    else if (wire === FOUR) this.#at += 4;
    else throw new RangeError(`Byte ${this.#at} begins no field.`);
  }

  /** Integers of the contract are counts, far below 2^53. */
  #varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#view.getUint8(this.#at++);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }
}
