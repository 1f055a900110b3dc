import { IntersticeError } from '../../contract/errors.js';
import { type PlyProperty, type PlyScalar, SCALAR_BYTES } from './ply-header.js';
import type { ElementPlan, PlyRecord } from './ply-plan.js';
import type { PlySourceWriter } from './ply-source.js';
import { MAX_RECORD_BYTES } from './types.js';

/** Parses the body of a binary PLY, and keeps only the bytes of an incomplete record. */
export class PlyBinaryBody {
  private readonly record: PlyRecord = { scalars: new Float64Array(3), list: [] };
  private element = 0;
  private index = 0;
  private waiting: Uint8Array[] = [];
  private waitingBytes = 0;
  /** Smallest number of bytes that may complete the next record. */
  private needed = 1;
  /** Bytes of a record of each element if its lists are empty. */
  private readonly shortest: readonly number[];

  constructor(
    private readonly plans: readonly ElementPlan[],
    private readonly isLittleEndian: boolean,
    private readonly source?: PlySourceWriter,
  ) {
    this.shortest = plans.map(({ element }) =>
      element.properties.reduce((sum, { type, countType }) => sum + SCALAR_BYTES[countType ?? type], 0),
    );
  }

  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    // Chunks are joined only once they may complete a record, so that a long record in tiny chunks is copied only once.
    if (this.waitingBytes < this.needed) return;
    const joined = this.waiting.length === 1 ? bytes : Buffer.concat(this.waiting, this.waitingBytes);
    const rest = joined.subarray(this.read(joined));
    this.waiting = rest.length === 0 ? [] : [new Uint8Array(rest)];
    this.waitingBytes = rest.length;
  }

  finish(): void {
    this.skipEmpty();
    const plan = this.plans[this.element];
    if (!plan) return;
    throw new IntersticeError(
      'MALFORMED_BODY',
      `The file ends within ${plan.element.name} ${this.index} of the ${plan.element.count} that its header announces.`,
      { hint: 'Was the file cut off?' },
    );
  }

  /** @returns the number of bytes consumed */
  private read(bytes: Uint8Array): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let offset = 0;
    /** The offset where the records of the current element begin. */
    let first = 0;
    let element = this.element;
    const keep = (): void => this.source?.add(element, bytes.subarray(first, offset));
    for (;;) {
      this.skipEmpty();
      if (this.element !== element) {
        keep();
        element = this.element;
        first = offset;
      }
      const plan = this.plans[this.element];
      if (!plan) return checkTrailer(bytes, offset);
      const end = this.readRecord(plan, view, offset);
      if (end < 0) {
        keep();
        return offset;
      }
      plan.take(this.record, this.index, 0);
      this.index++;
      offset = end;
    }
  }

  private skipEmpty(): void {
    while (this.element < this.plans.length && this.index === this.plans[this.element]!.element.count) {
      this.element++;
      this.index = 0;
    }
  }

  /** @returns the offset after the record; −1 if it is incomplete, after setting `needed` */
  private readRecord(plan: ElementPlan, view: DataView, start: number): number {
    const { properties } = plan.element;
    let offset = start;
    for (let i = 0; i < properties.length; i++) {
      const property = properties[i]!;
      const slot = plan.slots[i]!;
      if (property.countType !== undefined) {
        offset = this.readList(plan, property, slot, view, start, offset);
        if (offset < 0) return -1;
        continue;
      }
      const end = offset + SCALAR_BYTES[property.type];
      if (end > view.byteLength) return this.wait(plan, end - start);
      if (slot >= 0) this.record.scalars[slot] = readScalar(view, offset, property.type, this.isLittleEndian);
      offset = end;
    }
    return offset;
  }

  private readList(
    plan: ElementPlan,
    { countType, type, name }: PlyProperty,
    slot: number,
    view: DataView,
    start: number,
    offset: number,
  ): number {
    const first = offset + SCALAR_BYTES[countType!];
    if (first > view.byteLength) return this.wait(plan, first - start);
    const count = readScalar(view, offset, countType!, this.isLittleEndian);
    if (count < 0) {
      throw new IntersticeError(
        'MALFORMED_BODY',
        `${plan.element.name} ${this.index}: the list ${name} has a length of ${count}.`,
      );
    }
    const size = SCALAR_BYTES[type];
    const end = first + count * size;
    if (end > view.byteLength) return this.wait(plan, end - start);
    if (slot < 0) return end;
    const { list } = this.record;
    list.length = 0;
    for (let at = first; at < end; at += size) list.push(readScalar(view, at, type, this.isLittleEndian));
    return end;
  }

  private wait(plan: ElementPlan, bytes: number): -1 {
    if (bytes > MAX_RECORD_BYTES) {
      throw new IntersticeError(
        'MALFORMED_BODY',
        `${plan.element.name} ${this.index} is at least ${bytes} bytes long; the limit is ${MAX_RECORD_BYTES}.`,
        { hint: 'Is the file damaged?' },
      );
    }
    this.needed = Math.max(bytes, this.shortest[this.element]!);
    return -1;
  }
}

/** Some programs end a file with a line end or a zero. Other trailing bytes mean that the header's counts are wrong. */
function checkTrailer(bytes: Uint8Array, offset: number): number {
  for (let i = offset; i < bytes.length; i++) {
    if (bytes[i]! > 32) {
      throw new IntersticeError('MALFORMED_BODY', 'The file continues after everything that its header announces.', {
        hint: 'Correct the counts in the header.',
      });
    }
  }
  return bytes.length;
}

function readScalar(view: DataView, offset: number, type: PlyScalar, isLittleEndian: boolean): number {
  switch (type) {
    case 'int8':
      return view.getInt8(offset);
    case 'uint8':
      return view.getUint8(offset);
    case 'int16':
      return view.getInt16(offset, isLittleEndian);
    case 'uint16':
      return view.getUint16(offset, isLittleEndian);
    case 'int32':
      return view.getInt32(offset, isLittleEndian);
    case 'uint32':
      return view.getUint32(offset, isLittleEndian);
    case 'float32':
      return view.getFloat32(offset, isLittleEndian);
    case 'float64':
      return view.getFloat64(offset, isLittleEndian);
  }
}
