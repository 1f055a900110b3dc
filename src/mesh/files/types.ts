import { IntersticeError } from '../../contract/errors.js';
import type { Positions } from '../../contract/mesh.js';
import type { GltfSource } from '../gltf/source.js';
import type { Scalar } from '../positions.js';
import type { ObjSource } from './obj-source.js';
import type { PlySource } from './ply-source.js';

export type MeshFormat = 'obj' | 'ply';
/** glTF is read and written as a whole, from and to local files; the others as streams */
export type FileFormat = MeshFormat | 'gltf';
export type PlyEncoding = 'ascii' | 'binary_little_endian' | 'binary_big_endian';

/** A mesh as in its file, with vertex order, precision and polygons, so that it can be written back. */
export interface MeshFile {
  /** of a stream of this mesh; one from a glTF file, which is not a stream, has `ply` */
  readonly format: MeshFormat;
  /** type of the coordinates: numbers of an OBJ are doubles, a PLY declares its own */
  readonly scalar: Scalar;
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
  /** uint32[sum of faceSizes] the polygons' corners, one polygon after another */
  readonly faceVertices: Uint32Array;
  /** of a PLY file; if it is absent, a PLY is written little-endian */
  readonly plyEncoding?: PlyEncoding;
  /**
   * the content of the file besides the mesh, to be written back; one for each concatenated file. Absent if there is
   * none. Vertices and elements are those of the fields above, so code that changes these must drop it.
   */
  readonly sources?: readonly MeshSource[];
  /** the glTF file that this was read from; an answer written as glTF keeps its other content */
  readonly gltf?: GltfSource;
}

export type MeshSource = ObjSource | PlySource;

/** Parses a file that arrives in pieces of any size. */
export interface MeshReader {
  /** Parses the next piece, and keeps only the bytes of an incomplete line or record. */
  push(bytes: Uint8Array): void;
  /**
   * Bytes of the arrays of the mesh so far, for a line of a text may be shorter than its numbers, and of the content that
   * is kept to be written back.
   */
  readonly bytes: number;
  /** Call at the end of the file. */
  finish(): MeshFile;
}

/** Largest line or binary record that a reader accepts, in bytes: far above real polygons, far below memory. */
export const MAX_RECORD_BYTES = 2 ** 20;

/** The format by the ending of a file's name, ignoring case; undefined for other endings. */
export function guessFormat(name: string): MeshFormat | undefined {
  const [, extension] = /\.(obj|ply)$/i.exec(name) ?? [];
  return extension === undefined ? undefined : (extension.toLowerCase() as MeshFormat);
}

/** The ending of a file's name if it is that of a mesh in a format other than OBJ and PLY, without the dot. */
export function otherEnding(name: string): string | undefined {
  return (/\.(glb|gltf)$/i.exec(name) ?? FOREIGN.exec(name))?.[1]?.toLowerCase();
}

/** A glTF file, and the morph target that may follow its name: `shirt.glb#Smile`. */
export function splitMorph(name: string): { readonly path: string; readonly morph: string | undefined } {
  const [, path, morph] = /^(.*\.(?:glb|gltf))#(.+)$/is.exec(name) ?? [];
  return path === undefined ? { path: name, morph: undefined } : { path, morph };
}

/** Formats of other programs, each of which can also write a supported format. */
const FOREIGN = /\.(usd|usda|usdc|usdz|fbx|abc|dae|blend|3ds|stl|off)$/i;

/**
 * The format of a file by its name.
 *
 * @throws IntersticeError UNSUPPORTED_MEDIA_TYPE
 */
export function formatOf(name: string): FileFormat {
  const format = guessFormat(name);
  if (format) return format;
  if (/\.(glb|gltf)$/i.test(splitMorph(name).path)) return 'gltf';
  const [, foreign] = FOREIGN.exec(name) ?? [];
  const message = `${name} is not a .obj, .ply, .glb or .gltf file.`;
  throw new IntersticeError('UNSUPPORTED_MEDIA_TYPE', message, {
    hint: foreign
      ? `.${foreign.toLowerCase()} is not read. Export the mesh as .glb, .ply or .obj, which keep the order of its vertices.`
      : isStream(name)
        ? 'Meshes are read from files, not from standard input. Write it to a file whose name ends in one of these.'
        : 'Name the file by its format, or convert it to one of these.',
  });
}

/** Whether a command line means standard input or output by a name. */
export const isStream = (name: string): boolean => /^(-|\/dev\/(std(in|out|err)|fd\/\d+))$/.test(name);
