import { IntersticeError } from '../../contract/errors.js';
import { quote as quoteText } from '../../contract/quote.js';
import { MAX_RECORD_BYTES } from './types.js';

/** Bytes decoded at once, so that the text of a file that arrives in one piece is never in memory as a whole. */
const DECODED_BYTES = 2 ** 18;

/**
 * Cuts bytes into lines that end in LF, CR or CRLF, even if a chunk ends in the middle of a line end. Bytes become
 * characters one by one (Latin-1): names in other encodings pass through unharmed, and numbers are ASCII.
 */
export class LineSplitter {
  private unfinished = '';
  private hasEndedInReturn = false;

  /** @param lineNumber of the line before the first */
  constructor(
    private readonly take: (line: string, lineNumber: number) => void,
    private lineNumber = 0,
  ) {}

  push(bytes: Uint8Array): void {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let start = 0; start < buffer.length; start += DECODED_BYTES) {
      this.split(buffer.toString('latin1', start, Math.min(start + DECODED_BYTES, buffer.length)));
    }
  }

  /** Emits a last line that no line end follows. */
  finish(): void {
    if (this.unfinished !== '') this.emit(this.unfinished);
    this.unfinished = '';
  }

  private split(text: string): void {
    let start = this.hasEndedInReturn && text.startsWith('\n') ? 1 : 0;
    this.hasEndedInReturn = text.endsWith('\r');
    let feed = indexOrEnd(text, '\n', start);
    let carriage = indexOrEnd(text, '\r', start);
    while (feed < text.length || carriage < text.length) {
      const end = Math.min(feed, carriage);
      this.emit(this.unfinished + text.slice(start, end));
      this.unfinished = '';
      start = end === carriage && text.charCodeAt(end + 1) === 10 ? end + 2 : end + 1;
      if (feed < start) feed = indexOrEnd(text, '\n', start);
      if (carriage < start) carriage = indexOrEnd(text, '\r', start);
    }
    this.unfinished += text.slice(start);
    this.checkLength(this.unfinished, this.lineNumber + 1);
  }

  private emit(line: string): void {
    this.lineNumber++;
    this.checkLength(line, this.lineNumber);
    this.take(line, this.lineNumber);
  }

  private checkLength(line: string, lineNumber: number): void {
    if (line.length <= MAX_RECORD_BYTES) return;
    throw new IntersticeError(
      'MALFORMED_BODY',
      `Line ${lineNumber} is longer than ${MAX_RECORD_BYTES} characters: is this the right kind of file?`,
    );
  }
}

function indexOrEnd(text: string, character: string, start: number): number {
  const index = text.indexOf(character, start);
  return index < 0 ? text.length : index;
}

/** Iterates over the words of a line, which blanks and tabs separate. */
export class Words {
  private position = 0;

  constructor(private readonly line: string) {}

  /** The next word, or '' at the end. */
  next(): string {
    const { line } = this;
    let start = this.position;
    while (start < line.length && isBlank(line.charCodeAt(start))) start++;
    let end = start;
    while (end < line.length && !isBlank(line.charCodeAt(end))) end++;
    this.position = end;
    return line.slice(start, end);
  }
}

/** A zero byte is not a blank: UTF-16 text has one beside each character, and must not be read as if it had none. */
const isBlank = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);

/** Quotes a piece of a file for a message: short, and without control characters for a terminal. */
export function quote(text: string): string {
  return quoteText(text, 40).replace(/[\x7f-\x9f]/g, '?');
}
