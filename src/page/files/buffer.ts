/**
 * The part of Node's `Buffer` that the readers of mesh files and the client use, for browsers: bytes to and from
 * Latin-1 and base64 text. The bundler substitutes it for the global one.
 */
class BrowserBuffer extends Uint8Array<ArrayBuffer> {
  /** @param source memory to view, or a number of bytes */
  constructor(source: ArrayBuffer | number, offset?: number, length?: number) {
    super(source as ArrayBuffer, offset, length);
  }

  static override from(source: unknown, second?: unknown, length?: number): BrowserBuffer {
    if (typeof source !== 'string') return new BrowserBuffer(source as ArrayBuffer, (second as number) ?? 0, length);
    if (second !== 'latin1' && second !== 'base64') {
      throw new TypeError(`The encoding ${String(second)} is not supported.`);
    }
    const text = second === 'base64' ? atob(source) : source;
    const bytes = new BrowserBuffer(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
  }

  static alloc(size: number): BrowserBuffer {
    return new BrowserBuffer(size);
  }

  static concat(parts: readonly Uint8Array[], total: number): BrowserBuffer {
    const joined = new BrowserBuffer(total);
    let end = 0;
    for (const part of parts) {
      joined.set(part, end);
      end += part.length;
    }
    return joined;
  }

  override toString(encoding?: string, start = 0, end = this.length): string {
    let text = '';
    for (let i = start; i < end; i += CHUNK) {
      text += String.fromCharCode(...super.subarray(i, Math.min(i + CHUNK, end)));
    }
    if (encoding === 'latin1') return text;
    if (encoding === 'base64') return btoa(text);
    throw new TypeError(`The encoding ${String(encoding)} is not supported.`);
  }
}

/** Characters per call of fromCharCode, whose arguments are on the stack. */
const CHUNK = 0x8000;

export { BrowserBuffer as Buffer };
