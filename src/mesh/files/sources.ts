import { printFloat64 } from './numbers.js';
import { type ObjSource, ObjSourceWriter, replayObj } from './obj-source.js';
import { replayPly } from './ply-source.js';
import type { FileFormat, MeshFile, MeshFormat, MeshSource } from './types.js';

const isObj = (source: MeshSource): source is ObjSource => source.format === 'obj';

/**
 * The file as it was read, with the positions of `file`: pieces of text for an OBJ, bytes for a PLY.
 *
 * @returns undefined if there is nothing to write back, or if the format cannot store it
 */
export function replay(
  file: MeshFile,
  format: MeshFormat,
): { readonly text: Iterable<string> } | { readonly bytes: Iterable<Uint8Array> } | undefined {
  const { sources = [], positions, vertexCount } = file;
  const [first] = sources;
  if (format === 'obj' && sources.length > 0 && sources.every(isObj)) {
    const isWhole = sources.reduce((sum, source) => sum + source.vertexCount, 0) === vertexCount;
    const print = (vertex: number) => [0, 1, 2].map((axis) => printFloat64(positions[3 * vertex + axis]!)).join(' ');
    return isWhole ? { text: replayObj(sources, print) } : undefined;
  }
  if (format === 'ply' && first?.format === 'ply' && sources.length === 1) {
    const count = first.header.elements.find(({ name }) => name === 'vertex')?.count;
    return count === vertexCount ? { bytes: replayPly(first, positions) } : undefined;
  }
  return undefined;
}

/** Largest number of names in a readable list, and of characters in a name: a file may declare a thousand long ones. */
const MAX_NAMES = 20;
const MAX_NAME_LENGTH = 40;

/**
 * Names of the content besides the mesh that the format cannot store, in printable ASCII: `vt`, `usemtl`, `vertex.nx`,
 * `12 more`.
 */
export function attributesLost(file: MeshFile, format: FileFormat): readonly string[] {
  const { sources = [], gltf } = file;
  if (gltf && format === 'gltf') return gltf.lostAsGltf;
  if (format !== 'gltf' && replay(file, format)) return [];
  const names = [...new Set([...sources.flatMap((source) => source.names), ...(gltf?.names ?? [])])];
  const shown = names.slice(0, MAX_NAMES).map((name) => name.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_NAME_LENGTH));
  return names.length > MAX_NAMES ? [...shown, `${names.length - MAX_NAMES} more`] : shown;
}

/**
 * The sources of several files as those of one. Texts of OBJ files can follow each other. The records of PLY files
 * cannot, because each file has its own properties; they are kept only to name what is lost.
 */
export function joinSources(files: readonly MeshFile[]): readonly MeshSource[] | undefined {
  if (!files.some(({ sources }) => sources)) return undefined;
  const areObj = files.every(({ format }) => format === 'obj');
  return files.flatMap((file) => file.sources ?? (areObj ? [plainSource(file)] : []));
}

/** The text of a file that contains only the mesh. */
function plainSource({ vertexCount, faceSizes, faceVertices, segments, particles }: MeshFile): ObjSource {
  const writer = new ObjSourceWriter();
  for (let vertex = 0; vertex < vertexCount; vertex++) writer.addVertex('');
  let corner = 0;
  for (const size of faceSizes) {
    const corners = faceVertices.subarray(corner, corner + size).map((vertex) => vertex + 1);
    writer.addElement(`f ${corners.join(' ')}`);
    corner += size;
  }
  for (let i = 0; i < segments.length; i += 2) writer.addElement(`l ${segments[i]! + 1} ${segments[i + 1]! + 1}`);
  for (const vertex of particles) writer.addElement(`p ${vertex + 1}`);
  return writer.take();
}
