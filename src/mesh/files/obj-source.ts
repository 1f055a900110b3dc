import { Words } from './lines.js';

/**
 * The text of an OBJ file without its coordinates, kept so that everything except positions (texture coordinates,
 * normals, groups, materials, colours) is written back unchanged. Everything keeps its order, so relative numbers stay
 * correct.
 */
export interface ObjSource {
  readonly format: 'obj';
  /** Lines that end in LF, joined to blocks; a vertex is `v` and the text after its coordinates. */
  readonly blocks: readonly string[];
  readonly vertexCount: number;
  /** counts of `vt` and of `vn`, by which the numbers of a following file are raised */
  readonly textureCount: number;
  readonly normalCount: number;
  /** names of the content that a file of another format loses */
  readonly names: readonly string[];
  /** bytes of memory of the blocks: a character takes one, because files are read as Latin-1 */
  readonly bytes: number;
}

/** Characters of a block; longer strings would be kept as trees of their pieces. */
const BLOCK_LENGTH = 2 ** 16;

const COMMENT = '#';

/** Collects the statements of a file while it is read. */
export class ObjSourceWriter {
  private readonly blocks: string[] = [];
  private lines: string[] = [];
  private length = 0;
  private vertexCount = 0;
  private textureCount = 0;
  private normalCount = 0;
  private readonly names = new Set<string>();
  private kept = 0;

  /** Bytes of memory of what is kept so far. */
  get bytes(): number {
    return this.kept;
  }

  /** @param extra the text after the coordinates, trimmed */
  addVertex(extra: string): void {
    this.vertexCount++;
    if (extra !== '') this.names.add('vertex colours or weights');
    this.push(extra === '' ? 'v' : `v ${extra}`);
  }

  /** Adds a face, a line or points. */
  addElement(text: string): void {
    if (text.includes('/')) this.names.add('corners with vt or vn');
    this.push(text);
  }

  /** Adds a statement that the reader skips. */
  addSkipped(keyword: string, text: string): void {
    if (keyword === 'vt') this.textureCount++;
    if (keyword === 'vn') this.normalCount++;
    if (keyword !== '' && !keyword.startsWith(COMMENT)) this.names.add(keyword);
    this.push(text);
  }

  /** @returns undefined for a file that has only vertices and elements */
  finish(): ObjSource | undefined {
    return this.names.size === 0 ? undefined : this.take();
  }

  take(): ObjSource {
    this.flush();
    const { blocks, vertexCount, textureCount, normalCount, bytes } = this;
    return { format: 'obj', blocks, vertexCount, textureCount, normalCount, names: [...this.names], bytes };
  }

  private push(line: string): void {
    this.lines.push(line);
    this.length += line.length + 1;
    this.kept += line.length + 1;
    if (this.length >= BLOCK_LENGTH) this.flush();
  }

  private flush(): void {
    if (this.lines.length === 0) return;
    this.blocks.push(`${this.lines.join('\n')}\n`);
    this.lines = [];
    this.length = 0;
  }
}

/** Prints the statements of files one after another, with new coordinates. @param printVertex by number from 0 */
export function* replayObj(sources: readonly ObjSource[], printVertex: (vertex: number) => string): Generator<string> {
  let vertex = 0;
  const before = [0, 0, 0] as [vertices: number, textures: number, normals: number];
  for (const { blocks, vertexCount, textureCount, normalCount } of sources) {
    const isShifted = before.some((count) => count > 0);
    for (const block of blocks) {
      // The last line end is not a separator.
      for (const line of block.slice(0, -1).split('\n')) {
        if (line === 'v' || line.startsWith('v ')) yield `v ${printVertex(vertex++)}${line.slice(1)}\n`;
        else yield `${isShifted ? shift(line, before) : line}\n`;
      }
    }
    before[0] += vertexCount;
    before[1] += textureCount;
    before[2] += normalCount;
  }
}

/** Raises the numbers of an element; negative ones count back and stay. Other statements stay unchanged. */
function shift(line: string, by: readonly [number, number, number]): string {
  const words = new Words(line);
  const keyword = words.next();
  if (keyword !== 'f' && keyword !== 'fo' && keyword !== 'l' && keyword !== 'p') return line;
  let text = keyword;
  for (let word = words.next(); word !== '' && !word.startsWith(COMMENT); word = words.next()) {
    const raised = word.split('/').map((part, i) => (/^\+?\d/.test(part) ? String(Number(part) + (by[i] ?? 0)) : part));
    text += ` ${raised.join('/')}`;
  }
  return text;
}
