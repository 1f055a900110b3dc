import { IntersticeError } from '../../contract/errors.js';
import type { MeshLimits } from '../../contract/mesh.js';
import { assertWithinLimits } from '../limits.js';
import type { Scalar } from '../positions.js';
import { nameVertex } from '../vertex-data.js';
import { PlyAsciiBody } from './ply-ascii.js';
import { PlyBinaryBody } from './ply-binary.js';
import { type PlyElement, type PlyHeader, PlyHeaderReader } from './ply-header.js';
import { type PlyRecord, type PlySink, planElement } from './ply-plan.js';
import { PlySourceWriter } from './ply-source.js';
import { GrowingPositions, TopologyCollector } from './topology.js';
import type { MeshFile, MeshReader } from './types.js';

/**
 * Reads PLY, ASCII or binary: faces, edges as segments, and points. A file that has neither is a cloud: all its
 * vertices are particles. Other elements and properties are kept for a writer, unread.
 */
export class PlyReader implements MeshReader {
  private readonly headerReader = new PlyHeaderReader();
  private contents: PlyContents | undefined;

  constructor(private readonly limits?: MeshLimits) {}

  push(bytes: Uint8Array): void {
    let rest = bytes;
    if (!this.contents) {
      rest = bytes.subarray(this.headerReader.push(bytes));
      if (!this.headerReader.header) return;
      this.contents = new PlyContents(this.headerReader.header, this.limits);
    }
    this.contents.body.push(rest);
  }

  get bytes(): number {
    return this.contents?.bytes ?? 0;
  }

  finish(): MeshFile {
    if (!this.contents) return this.headerReader.refuseEnd();
    this.contents.body.finish();
    return this.contents.finish();
  }
}

/** Collects the mesh from the records of the body. */
class PlyContents implements PlySink {
  readonly body: PlyAsciiBody | PlyBinaryBody;
  private readonly vertexCount: number;
  private readonly scalar: Scalar;
  private readonly positions: GrowingPositions;
  private readonly topology: TopologyCollector;
  private readonly source: PlySourceWriter | undefined;

  constructor(
    private readonly header: PlyHeader,
    limits: MeshLimits | undefined,
  ) {
    const vertex = header.elements.find(({ name }) => name === 'vertex');
    if (!vertex) throw new IntersticeError('MALFORMED_BODY', 'The header declares no element "vertex".');
    this.vertexCount = vertex.count;
    // The declared count alone may exceed the limits; memory grows only with the data that arrives.
    assertWithinLimits(vertex.count, 0, limits);
    this.scalar = scalarOf(vertex);
    this.positions = new GrowingPositions(this.scalar);
    this.topology = new TopologyCollector(0, limits);
    const plans = header.elements.map((element) => planElement(element, this));
    this.source = PlySourceWriter.open(header, plans);
    this.body =
      header.encoding === 'ascii'
        ? new PlyAsciiBody(plans, header.lineCount, this.source)
        : new PlyBinaryBody(plans, header.encoding === 'binary_little_endian', this.source);
  }

  takeVertex = ({ scalars }: PlyRecord, index: number, line: number): void => {
    for (let axis = 0; axis < 3; axis++) {
      const value = scalars[axis]!;
      if (!Number.isFinite(value)) {
        const coordinate = line > 0 ? `Line ${line}: coordinate` : 'Coordinate';
        throw new IntersticeError(
          'NOT_FINITE',
          `${coordinate} ${'xyz'[axis]} of vertex ${index} (counting from 0) is not a finite number.`,
          { element: nameVertex(index) },
        );
      }
      this.positions.push(value);
    }
  };

  takeFace = ({ list }: PlyRecord, _index: number, line: number): void => {
    this.topology.addFace(list, this.vertexCount, line);
  };

  takeEdge = ({ scalars }: PlyRecord, _index: number, line: number): void => {
    this.topology.addSegment(scalars[0]!, scalars[1]!, this.vertexCount, line);
  };

  takePoint = ({ scalars }: PlyRecord, _index: number, line: number): void => {
    this.topology.addParticle(scalars[0]!, this.vertexCount, line);
  };

  get bytes(): number {
    return this.positions.bytes + this.topology.bytes + (this.source?.bytes ?? 0);
  }

  finish(): MeshFile {
    const { vertexCount, header } = this;
    // If the file declares an element "point", it lists the particles, even if it is empty.
    const isCloud = this.topology.isEmpty && !header.elements.some(({ name }) => name === 'point');
    const elements = this.topology.finish(vertexCount);
    return {
      format: 'ply',
      plyEncoding: header.encoding,
      scalar: this.scalar,
      vertexCount,
      positions: this.positions.take(),
      ...elements,
      ...(this.source ? { sources: [this.source.finish()] } : {}),
      particles: isCloud ? Uint32Array.from({ length: vertexCount }, (_, vertex) => vertex) : elements.particles,
    };
  }
}

/** Returns single precision if it represents every coordinate of the file exactly. */
function scalarOf({ properties }: PlyElement): Scalar {
  const isWide = properties.some(
    ({ name, type }) => /^[xyz]$/.test(name) && (type === 'float64' || type === 'int32' || type === 'uint32'),
  );
  return isWide ? 'FLOAT64' : 'FLOAT32';
}
