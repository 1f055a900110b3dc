import type { Positions } from '../../contract/mesh.js';

export type MeshFormat = 'obj' | 'ply';
export type PlyEncoding = 'ascii' | 'binary_little_endian' | 'binary_big_endian';

/** A mesh as its file has it: vertex order, precision and polygons are kept, so that it can be written back. */
export interface MeshFile {
  readonly format: MeshFormat;
  /** what the coordinates are: numbers of an OBJ are doubles, a PLY declares its own */
  readonly scalar: 'FLOAT32' | 'FLOAT64';
  readonly vertexCount: number;
  /** [3·V]; Float32Array for FLOAT32, Float64Array for FLOAT64 */
  readonly positions: Positions;
  /** uint32[3·T] the polygons, each as a fan around its first corner */
  readonly triangles: Uint32Array;
  /** uint32[2·S] */
  readonly segments: Uint32Array;
  /** uint32[P] */
  readonly particles: Uint32Array;
  /** uint32[F] corners of each polygon */
  readonly faceSizes: Uint32Array;
  /** uint32[sum of faceSizes] the polygons' corners, one after the other */
  readonly faceVertices: Uint32Array;
  /** of a PLY file; a PLY is written little-endian when it is absent */
  readonly plyEncoding?: PlyEncoding;
}

/** Takes a file in pieces of any size. */
export interface MeshReader {
  /** Reads on; the bytes are not kept beyond what one line or record needs. */
  push(bytes: Uint8Array): void;
  /** The file is complete. */
  finish(): MeshFile;
}

/** What a reader holds of one line or one binary record, in bytes: far above real polygons, far below memory. */
export const MAX_RECORD_BYTES = 2 ** 20;
