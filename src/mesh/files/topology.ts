import type { ElementRef } from '../../contract/elements.js';
import { type ErrorCode, IntersticeError } from '../../contract/errors.js';
import type { MeshLimits, Positions } from '../../contract/mesh.js';
import { assertWithinLimits, STRUCTURAL_LIMITS } from '../limits.js';
import type { Scalar } from '../positions.js';
import type { MeshFile } from './types.js';

/** Initial number of entries, which then doubles, so that the claims of a file never decide how much is allocated. */
const FIRST_CAPACITY = 1024;

type Growable = Uint32Array | Float32Array | Float64Array;

/** A typed array that grows as entries arrive. */
class Growing<A extends Growable> {
  length = 0;

  constructor(
    private entries: A,
    private readonly make: (capacity: number) => A,
  ) {}

  push(value: number): void {
    if (this.length === this.entries.length) {
      const larger = this.make(2 * this.length);
      larger.set(this.entries);
      this.entries = larger;
    }
    this.entries[this.length++] = value;
  }

  /** Of the entries: the system provides the pages of the rest only when they are written to. */
  get bytes(): number {
    return this.length * this.entries.BYTES_PER_ELEMENT;
  }

  /** A copy of exactly the entries so far. */
  take(): A {
    const exact = this.make(this.length);
    exact.set(this.entries.subarray(0, this.length));
    return exact;
  }
}

class GrowingIds extends Growing<Uint32Array> {
  constructor() {
    super(new Uint32Array(FIRST_CAPACITY), (capacity) => new Uint32Array(capacity));
  }
}

export class GrowingPositions extends Growing<Positions> {
  constructor(scalar: Scalar) {
    const make = (capacity: number): Positions =>
      scalar === 'FLOAT32' ? new Float32Array(capacity) : new Float64Array(capacity);
    super(make(FIRST_CAPACITY), make);
  }
}

/** Corners up to which comparing all pairs is faster than a set. */
const FEW_CORNERS = 8;

type FileElement = 'face' | 'segment' | 'particle';
interface ForwardReference {
  readonly vertex: number;
  readonly element: ElementRef;
  readonly line: number;
}

const OBJ_HINTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  INDEX_OUT_OF_RANGE: 'Name a vertex of the file, which counts them from 1; ids of the element at fault count from 0.',
  INVALID_MESH: 'Repair the named element; its ids count from 0, those of the file from 1.',
};

/** Collects the elements of a file, with vertex ids from 0, and refuses invalid ones. */
export class TopologyCollector {
  private readonly triangles = new GrowingIds();
  private readonly segments = new GrowingIds();
  private readonly particles = new GrowingIds();
  private readonly faceSizes = new GrowingIds();
  private readonly faceVertices = new GrowingIds();
  /** The furthest forward reference: an OBJ may name vertices that follow later. */
  private forward: ForwardReference | undefined;
  private readonly maxElements: number;

  /** @param firstId the first vertex id of the file: 1 in an OBJ, 0 in a PLY */
  constructor(
    private readonly firstId: 0 | 1,
    private readonly limits: MeshLimits | undefined,
  ) {
    this.maxElements = limits?.maxElements ?? STRUCTURAL_LIMITS.maxElements;
  }

  /**
   * @param corners vertex ids, 0 ≤ id < 2³²; copied
   * @param vertexCount vertices known so far, or declared
   * @param line 0 for a binary file
   */
  addFace(corners: readonly number[], vertexCount: number, line: number): void {
    this.checkElement('face', this.faceSizes.length, corners, vertexCount, line);
    if (corners.length < 3) {
      this.refuse('INVALID_MESH', 'face', this.faceSizes.length, corners, line, `has ${corners.length} corners`);
    }
    const repeated = findRepeated(corners);
    if (repeated >= 0) {
      const problem = `uses vertex ${this.nameId(repeated)} more than once (counting from ${this.firstId})`;
      this.refuse('INVALID_MESH', 'face', this.faceSizes.length, corners, line, problem);
    }
    this.faceSizes.push(corners.length);
    for (let i = 0; i < corners.length; i++) this.faceVertices.push(corners[i]!);
    for (let i = 2; i < corners.length; i++) {
      this.triangles.push(corners[0]!);
      this.triangles.push(corners[i - 1]!);
      this.triangles.push(corners[i]!);
    }
    this.checkLimit();
  }

  addSegment(a: number, b: number, vertexCount: number, line: number): void {
    this.checkElement('segment', this.segments.length / 2, [a, b], vertexCount, line);
    if (a === b) {
      const problem = `joins vertex ${this.nameId(a)} with itself (counting from ${this.firstId})`;
      this.refuse('INVALID_MESH', 'segment', this.segments.length / 2, [a, b], line, problem);
    }
    this.segments.push(a);
    this.segments.push(b);
    this.checkLimit();
  }

  addParticle(vertex: number, vertexCount: number, line: number): void {
    this.checkElement('particle', this.particles.length, [vertex], vertexCount, line);
    this.particles.push(vertex);
    this.checkLimit();
  }

  /** Whether no face, segment or particle has been added. */
  get isEmpty(): boolean {
    return this.faceSizes.length + this.segments.length + this.particles.length === 0;
  }

  /** Of all ids so far. */
  get bytes(): number {
    const { triangles, segments, particles, faceSizes, faceVertices } = this;
    return [triangles, segments, particles, faceSizes, faceVertices].reduce((sum, ids) => sum + ids.bytes, 0);
  }

  /**
   * @param vertexCount of the complete file
   * @throws IntersticeError INDEX_OUT_OF_RANGE if an element named a vertex that does not exist
   */
  finish(vertexCount: number): Pick<MeshFile, 'triangles' | 'segments' | 'particles' | 'faceSizes' | 'faceVertices'> {
    if (this.forward && this.forward.vertex >= vertexCount) {
      const { element, line, vertex } = this.forward;
      this.refuseIndex(element.kind as FileElement, element.index, element.vertices, line, vertex, vertexCount);
    }
    return {
      triangles: this.triangles.take(),
      segments: this.segments.take(),
      particles: this.particles.take(),
      faceSizes: this.faceSizes.take(),
      faceVertices: this.faceVertices.take(),
    };
  }

  /** Refuses at once a negative id in the file's own numbering, or one that no file can have. */
  private checkElement(
    kind: FileElement,
    index: number,
    vertices: readonly number[],
    vertexCount: number,
    line: number,
  ): void {
    let highest = -1;
    for (let i = 0; i < vertices.length; i++) {
      const vertex = vertices[i]!;
      if (vertex < 0 || vertex >= 2 ** 32) this.refuseIndex(kind, index, vertices, line, vertex, vertexCount);
      if (vertex > highest) highest = vertex;
    }
    if (highest < vertexCount) return;
    if (this.firstId === 0) this.refuseIndex(kind, index, vertices, line, highest, vertexCount);
    if (this.forward && this.forward.vertex >= highest) return;
    this.forward = { vertex: highest, element: { kind, index, vertices: [...vertices] }, line };
  }

  private refuseIndex(
    kind: FileElement,
    index: number,
    vertices: readonly number[],
    line: number,
    vertex: number,
    vertexCount: number,
  ): never {
    const problem = `refers to vertex ${this.nameId(vertex)}, but the file has ${vertexCount} vertices (counting from ${this.firstId})`;
    return this.refuse('INDEX_OUT_OF_RANGE', kind, index, vertices, line, problem);
  }

  private refuse(
    code: ErrorCode,
    kind: FileElement,
    index: number,
    vertices: readonly number[],
    line: number,
    problem: string,
  ): never {
    const named = line > 0 ? `Line ${line}: ${kind}` : kind.charAt(0).toUpperCase() + kind.slice(1);
    throw new IntersticeError(code, `${named} ${index} ${problem}.`, {
      element: { kind, index, vertices: vertices.slice(0, FEW_CORNERS) },
      // The message has the ids of the file and the element those of the contract: only in an OBJ they differ.
      ...(this.firstId === 1 ? { hint: OBJ_HINTS[code] } : {}),
    });
  }

  private nameId(vertex: number): number {
    return vertex + this.firstId;
  }

  private checkLimit(): void {
    const count = this.triangles.length / 3 + this.segments.length / 2 + this.particles.length;
    if (count > this.maxElements) assertWithinLimits(0, count, this.limits, false);
  }
}

/** A vertex that occurs more than once among the corners, or −1. */
function findRepeated(corners: readonly number[]): number {
  if (corners.length > FEW_CORNERS) {
    const seen = new Set<number>();
    for (const corner of corners) {
      if (seen.has(corner)) return corner;
      seen.add(corner);
    }
    return -1;
  }
  for (let i = 1; i < corners.length; i++) {
    for (let j = 0; j < i; j++) if (corners[i] === corners[j]) return corners[i]!;
  }
  return -1;
}
