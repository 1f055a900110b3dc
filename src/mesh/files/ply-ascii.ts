import { IntersticeError } from '../../contract/errors.js';
import { LineSplitter, quote, Words } from './lines.js';
import { readFloat32, readNumber } from './numbers.js';
import { INTEGER_RANGES, type PlyProperty, type PlyScalar } from './ply-header.js';
import type { ElementPlan, PlyRecord } from './ply-plan.js';
import type { PlySourceWriter } from './ply-source.js';

/** Parses the body of an ASCII PLY, one record per line. */
export class PlyAsciiBody {
  private readonly record: PlyRecord = { scalars: new Float64Array(3), list: [] };
  private readonly lines: LineSplitter;
  private element = 0;
  private index = 0;

  /** @param headerLines lines before the body */
  constructor(
    private readonly plans: readonly ElementPlan[],
    headerLines: number,
    private readonly source?: PlySourceWriter,
  ) {
    this.lines = new LineSplitter((line, lineNumber) => this.takeLine(line, lineNumber), headerLines);
  }

  push(bytes: Uint8Array): void {
    this.lines.push(bytes);
  }

  finish(): void {
    this.lines.finish();
    const plan = this.findPlan();
    if (!plan) return;
    throw new IntersticeError(
      'MALFORMED_BODY',
      `The file ends before ${plan.element.name} ${this.index} of the ${plan.element.count} that its header announces.`,
      { hint: 'Was the file cut off?' },
    );
  }

  private findPlan(): ElementPlan | undefined {
    while (this.element < this.plans.length && this.index === this.plans[this.element]!.element.count) {
      this.element++;
      this.index = 0;
    }
    return this.plans[this.element];
  }

  private takeLine(text: string, line: number): void {
    const words = new Words(text);
    const first = words.next();
    if (first === '') return;
    const plan = this.findPlan();
    if (!plan) {
      throw new IntersticeError(
        'MALFORMED_BODY',
        `Line ${line}: the file continues after everything that its header announces.`,
        { hint: 'Correct the counts in the header.' },
      );
    }
    const reading = new LineReading(words, first, line, plan, this.index);
    const { properties } = plan.element;
    for (let i = 0; i < properties.length; i++) reading.take(properties[i]!, plan.slots[i]!, this.record);
    reading.finish();
    plan.take(this.record, this.index, line);
    this.source?.addLine(this.element, text);
    this.index++;
  }
}

/** Parses one line into a record. */
class LineReading {
  constructor(
    private readonly words: Words,
    private word: string,
    private readonly line: number,
    private readonly plan: ElementPlan,
    private readonly index: number,
  ) {}

  take(property: PlyProperty, slot: number, record: PlyRecord): void {
    if (property.countType !== undefined) this.takeList(property, slot, record);
    else {
      if (this.word === '') this.refuse(`${property.name} is missing`);
      if (slot >= 0) record.scalars[slot] = this.read(property.type, property.name);
      this.word = this.words.next();
    }
  }

  finish(): void {
    if (this.word !== '') this.refuse(`${quote(this.word)} is more than the header announces for a line`);
  }

  private takeList({ name, type, countType }: PlyProperty, slot: number, record: PlyRecord): void {
    if (this.word === '') this.refuse(`the length of ${name} is missing`);
    const { word } = this;
    const count = this.readInteger(`the length of ${name}`);
    if (count < 0) this.refuse(`the list ${name} has a length of ${count}`);
    if (slot >= 0) record.list.length = 0;
    this.word = this.words.next();
    for (let i = 0; i < count; i++) {
      if (this.word === '') this.refuse(`${name} has ${i} entries of ${count}`);
      if (slot >= 0) record.list.push(this.read(type, name));
      this.word = this.words.next();
    }
    // Last, because a length without as many entries is rather a line that was cut off.
    this.checkRange(count, word, countType!, `the length of ${name}`);
  }

  private read(type: PlyScalar, name: string): number {
    const { word, line } = this;
    if (type === 'float32') return readFloat32(word, line);
    if (type === 'float64') return readNumber(word, line);
    const value = this.readInteger(name);
    this.checkRange(value, word, type, name);
    return value;
  }

  private readInteger(name: string): number {
    const value = readNumber(this.word, this.line);
    if (!Number.isSafeInteger(value)) this.refuse(`${name} is ${quote(this.word)}, not an integer`);
    return value;
  }

  private checkRange(value: number, word: string, type: PlyScalar, name: string): void {
    const [least, most] = INTEGER_RANGES[type]!;
    if (value >= least && value <= most) return;
    this.refuse(`${name} is ${quote(word)}, beyond its type ${type} (${least} to ${most})`);
  }

  private refuse(problem: string): never {
    throw new IntersticeError(
      'MALFORMED_BODY',
      `Line ${this.line}: ${this.plan.element.name} ${this.index}: ${problem}.`,
    );
  }
}
