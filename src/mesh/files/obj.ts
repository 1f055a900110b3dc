import { IntersticeError } from '../../contract/errors.js';
import type { MeshLimits } from '../../contract/mesh.js';
import { assertWithinLimits, STRUCTURAL_LIMITS } from '../limits.js';
import { nameVertex } from '../vertex-data.js';
import { LineSplitter, quote, Words } from './lines.js';
import { readNumber } from './numbers.js';
import { ObjSourceWriter } from './obj-source.js';
import { GrowingPositions, TopologyCollector } from './topology.js';
import { MAX_RECORD_BYTES, type MeshFile, type MeshReader } from './types.js';

/** Statements that do not concern positions; a writer writes them back. */
const IGNORED = new Set(
  'vt vn vp g s o usemtl mtllib usemap maplib mg lod shadow_obj trace_obj bevel c_interp d_interp'.split(' '),
);
/** Free-form curves and surfaces, which are refused: omitting them would omit something to collide with. */
const FREE_FORM = new Set(
  'cstype deg bmat step curv curv2 surf parm trim hole scrv sp end con ctech stech bzp bsp cdc cdp res call'.split(' '),
);
/** x y z, a weight, a colour with opacity. */
const MAX_VERTEX_NUMBERS = 8;

const SLASH = 47;
const MINUS = 45;
const PLUS = 43;

/** Reads Wavefront OBJ: vertices, polygons, polylines (as consecutive segments) and points. */
export class ObjReader implements MeshReader {
  private readonly positions = new GrowingPositions('FLOAT64');
  private readonly topology: TopologyCollector;
  private readonly lines = new LineSplitter((line, lineNumber) => this.takeLine(line, lineNumber));
  /** The start of a statement that a backslash continues on the next line, and the line it began on. */
  private continued = '';
  private continuedFrom = 0;
  private vertexCount = 0;
  private readonly corners: number[] = [];
  private readonly source = new ObjSourceWriter();

  private readonly maxVertices: number;

  constructor(private readonly limits?: MeshLimits) {
    this.maxVertices = limits?.maxVertices ?? STRUCTURAL_LIMITS.maxVertices;
    this.topology = new TopologyCollector(1, limits);
  }

  push(bytes: Uint8Array): void {
    this.lines.push(bytes);
  }

  get bytes(): number {
    return this.positions.bytes + this.topology.bytes + this.source.bytes;
  }

  finish(): MeshFile {
    this.lines.finish();
    if (this.continuedFrom > 0) this.takeStatement(this.continued, this.continuedFrom);
    const source = this.source.finish();
    return {
      format: 'obj',
      ...(source ? { sources: [source] } : {}),
      scalar: 'FLOAT64',
      vertexCount: this.vertexCount,
      positions: this.positions.take(),
      ...this.topology.finish(this.vertexCount),
    };
  }

  private takeLine(line: string, lineNumber: number): void {
    if (this.continuedFrom === 0 && !line.endsWith('\\')) {
      this.takeStatement(line, lineNumber);
      return;
    }
    // A comment may end in a backslash (in a path, for example) that does not continue it.
    if (this.continuedFrom === 0 && line.trimStart().startsWith('#')) return;
    if (this.continuedFrom === 0) this.continuedFrom = lineNumber;
    const isContinued = line.endsWith('\\');
    this.continued += isContinued ? `${line.slice(0, -1)} ` : line;
    if (this.continued.length > MAX_RECORD_BYTES) {
      throw new IntersticeError(
        'MALFORMED_BODY',
        `Line ${this.continuedFrom}: with its continuations the statement is longer than ${MAX_RECORD_BYTES} characters.`,
      );
    }
    if (isContinued) return;
    const statement = this.continued;
    const from = this.continuedFrom;
    this.continued = '';
    this.continuedFrom = 0;
    this.takeStatement(statement, from);
  }

  private takeStatement(text: string, line: number): void {
    // A byte order mark, as its three bytes.
    const statement = line === 1 && text.startsWith('\xef\xbb\xbf') ? text.slice(3) : text;
    const words = new Words(statement);
    const keyword = words.next();
    if (keyword === 'v') this.takeVertex(words, line);
    else if (keyword === '' || keyword.startsWith('#') || IGNORED.has(keyword)) {
      this.source.addSkipped(keyword, statement);
    } else {
      if (keyword === 'f' || keyword === 'fo') this.takeFace(words, line);
      else if (keyword === 'l') this.takePolyline(words, line);
      else if (keyword === 'p') this.takePoints(words, line);
      else refuseKeyword(keyword, line);
      this.source.addElement(statement);
    }
  }

  private takeVertex(words: Words, line: number): void {
    for (let axis = 0; axis < 3; axis++) {
      const word = words.next();
      const value = readNumber(word.startsWith('#') ? '' : word, line);
      if (!Number.isFinite(value)) {
        throw new IntersticeError(
          'NOT_FINITE',
          `Line ${line}: coordinate ${'xyz'[axis]} of vertex ${this.vertexCount + 1} (counting from 1) is ${quote(word)}.`,
          { element: nameVertex(this.vertexCount) },
        );
      }
      this.positions.push(value);
    }
    let extras = '';
    for (let extra = words.next(), count = 3; extra !== '' && !extra.startsWith('#'); extra = words.next()) {
      extras += extras === '' ? extra : ` ${extra}`;
      if (++count > MAX_VERTEX_NUMBERS) {
        throw new IntersticeError(
          'MALFORMED_BODY',
          `Line ${line}: more than ${MAX_VERTEX_NUMBERS} numbers in a vertex.`,
        );
      }
    }
    this.source.addVertex(extras);
    this.vertexCount++;
    if (this.vertexCount > this.maxVertices) assertWithinLimits(this.vertexCount, 0, this.limits, false);
  }

  private takeFace(words: Words, line: number): void {
    this.topology.addFace(this.readCorners(words, line), this.vertexCount, line);
  }

  private takePolyline(words: Words, line: number): void {
    const corners = this.readCorners(words, line);
    if (corners.length < 2) {
      throw new IntersticeError(
        'INVALID_MESH',
        `Line ${line}: a polyline needs two vertices, this has ${corners.length}.`,
      );
    }
    for (let i = 1; i < corners.length; i++) {
      this.topology.addSegment(corners[i - 1]!, corners[i]!, this.vertexCount, line);
    }
  }

  private takePoints(words: Words, line: number): void {
    for (const vertex of this.readCorners(words, line)) this.topology.addParticle(vertex, this.vertexCount, line);
  }

  /** Vertex ids from 0; valid until the next call. */
  private readCorners(words: Words, line: number): readonly number[] {
    this.corners.length = 0;
    for (let word = words.next(); word !== '' && !word.startsWith('#'); word = words.next()) {
      const id = readId(word, line);
      // Further checks name the number, which must be exact.
      if (id === 0 || id < -this.vertexCount || id > Number.MAX_SAFE_INTEGER) {
        const came = `only ${this.vertexCount} vertices came before it`;
        const problem = id === 0 ? 'vertices count from 1' : id < 0 ? came : 'no file has so many';
        throw new IntersticeError('INDEX_OUT_OF_RANGE', `Line ${line}: ${quote(word)} names no vertex: ${problem}.`, {
          hint: 'Positive numbers count vertices from 1, negative ones back from the last.',
        });
      }
      this.corners.push(id > 0 ? id - 1 : this.vertexCount + id);
    }
    return this.corners;
  }
}

/** The vertex of "7", "7/1", "7//2" or "7/1/2", where each number may be negative. */
function readId(word: string, line: number): number {
  const first = word.charCodeAt(0);
  let at = first === MINUS || first === PLUS ? 1 : 0;
  const digits = at;
  let id = 0;
  for (; at < word.length; at++) {
    const digit = word.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) break;
    id = id * 10 + digit;
  }
  if (at === digits || (at < word.length && (word.charCodeAt(at) !== SLASH || !/^[/\d+-]*$/.test(word.slice(at))))) {
    throw new IntersticeError('MALFORMED_BODY', `Line ${line}: ${quote(word)} is not the number of a vertex.`);
  }
  return first === MINUS ? -id : id;
}

function refuseKeyword(keyword: string, line: number): never {
  if (FREE_FORM.has(keyword)) {
    throw new IntersticeError(
      'UNIMPLEMENTED',
      `Line ${line}: the statement ${quote(keyword)} describes free-form geometry, which is not read.`,
      { hint: 'Export the mesh as polygons.' },
    );
  }
  throw new IntersticeError('MALFORMED_BODY', `Line ${line}: ${quote(keyword)} is not a statement of an OBJ file.`, {
    hint: 'Is this the right kind of file? OBJ is plain text in ASCII or UTF-8.',
  });
}
