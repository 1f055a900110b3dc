import { IntersticeError } from '../../contract/errors.js';
import type { MeshInput } from '../../contract/mesh.js';
import { assertSameTopology, toMeshInput } from '../../mesh/files/combine.js';
import { errorOfFile } from '../../mesh/files/file-error.js';
import { ObjReader } from '../../mesh/files/obj.js';
import { PlyReader } from '../../mesh/files/ply.js';
import type { MeshFile } from '../../mesh/files/types.js';
import { listMorphs, meshOfGltf } from '../../mesh/gltf/mesh.js';
import { parseGltf } from '../../mesh/gltf/parse.js';
import { assertStaysWelded, countCoincident, findCoincident, weldElements, weldMarks } from '../../mesh/weld.js';
import type { Source } from '../study.js';

/** A file that the user chose or dropped, as read. */
export interface OpenedMesh {
  readonly name: string;
  readonly file: MeshFile;
  /** of a .glb file */
  readonly glb?: Uint8Array<ArrayBuffer>;
  /** of a glTF file with morph targets, which are the same mesh in other states */
  readonly morphs?: Morphs;
  /** whether this is a state of a morph target of the other mesh of the pair */
  readonly isMorph?: boolean;
}

/** Morph targets of a glTF file. */
export interface Morphs {
  readonly names: readonly string[];
  /** The state of one, named as on the command line: `shirt.glb#Smile`. @throws IntersticeError */
  open(morph: string): OpenedMesh;
}

/** The members of an options file that the page acts on; others are refused. */
export interface OptionsFile {
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly kinematicFrom?: number;
  readonly kinematicVertices?: readonly number[];
}

/** Bytes that are parsed at once; the page stays responsive between two pieces. */
const PIECE_BYTES = 2 ** 22;

/** Files that a .gltf file refers to: they belong to it, and are not meshes. */
export const COMPANION = /\.(bin|png|jpe?g|webp|ktx2)$/i;

/**
 * @param companions files that were chosen with it, by name
 * @param onPiece called before each piece with the share that has been read; what it throws ends the reading
 * @throws IntersticeError, with the name of the file
 */
export async function readMeshBlob(
  name: string,
  blob: Blob,
  companions: ReadonlyMap<string, Blob> = new Map(),
  onPiece: (share: number) => void = () => {},
): Promise<OpenedMesh> {
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase();
  if (ending === 'glb' || ending === 'gltf') {
    onPiece(0);
    return withVertices(await readGltfBlob(name, blob, companions));
  }
  if (ending !== 'obj' && ending !== 'ply') {
    throw new IntersticeError('UNSUPPORTED_MEDIA_TYPE', `${name} is not a .obj, .ply, .glb or .gltf file.`, {
      hint: 'Export the mesh as glTF, OBJ or PLY. An options file ends in .json.',
    });
  }
  const reader = ending === 'obj' ? new ObjReader() : new PlyReader();
  let file: MeshFile;
  try {
    for (let start = 0; start < blob.size; start += PIECE_BYTES) {
      onPiece(start / blob.size);
      reader.push(await bytesOf(name, blob.slice(start, start + PIECE_BYTES)));
    }
    file = reader.finish();
  } catch (thrown) {
    throw named(name, thrown);
  }
  return withVertices({ name, file });
}

/** @throws IntersticeError for a file without vertices, which beside another one would pass for a state of another mesh */
function withVertices(opened: OpenedMesh): OpenedMesh {
  if (opened.file.vertexCount > 0) return opened;
  throw new IntersticeError('INVALID_MESH', `${opened.name}: The file has no vertices.`, {
    hint: 'Is it the right file, and is it complete?',
  });
}

/** @throws IntersticeError where the browser gives no bytes */
async function bytesOf(name: string, blob: Blob): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await blob.arrayBuffer());
  } catch (cause) {
    throw new IntersticeError('MALFORMED_BODY', `${name}: The browser cannot read this file.`, {
      hint: 'Has it changed since you chose it? A glTF file is read as a whole, and may have at most 2 GiB.',
      cause,
    });
  }
}

async function readGltfBlob(name: string, blob: Blob, companions: ReadonlyMap<string, Blob>): Promise<OpenedMesh> {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const [each, content] of [...companions, [name, blob] as const]) {
    if (each === name || /\.bin$/i.test(each)) files.set(each, await bytesOf(each, content));
  }
  try {
    const opened = await parseGltf(name, files);
    const names = listMorphs(opened.document);
    const open = (morph: string): OpenedMesh => {
      const title = `${name}#${morph}`;
      try {
        return { name: title, file: meshOfGltf(title, opened, morph), isMorph: true };
      } catch (thrown) {
        throw named(title, thrown);
      }
    };
    return {
      name,
      file: meshOfGltf(name, opened, undefined),
      ...(/\.glb$/i.test(name) ? { glb: files.get(name)! } : {}),
      ...(names.length > 0 ? { morphs: { names, open } } : {}),
    };
  } catch (thrown) {
    throw named(name, thrown);
  }
}

/** @throws IntersticeError */
export function readOptionsText(name: string, text: string): OptionsFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new IntersticeError('MALFORMED_BODY', `${name} is not JSON: ${(cause as Error).message}.`, {
      hint: OPTIONS_HINT,
      cause,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new IntersticeError('MALFORMED_BODY', `${name} must hold one JSON object.`, { hint: OPTIONS_HINT });
  }
  const unknown = Object.keys(value).find((key) => !KNOWN_OPTIONS.has(key));
  if (unknown !== undefined) {
    throw new IntersticeError('UNKNOWN_FIELD', `${name}: this page does not know the option ${unknown}.`, {
      hint: `It knows ${[...KNOWN_OPTIONS].join(', ')}.`,
    });
  }
  const { parameters, kinematicVertices } = value as Readonly<Record<string, unknown>>;
  if (parameters !== undefined && (typeof parameters !== 'object' || Array.isArray(parameters)))
    throw new IntersticeError('MALFORMED_BODY', `${name}: parameters must be an object.`, { hint: OPTIONS_HINT });
  if (kinematicVertices !== undefined && !Array.isArray(kinematicVertices))
    throw new IntersticeError('MALFORMED_BODY', `${name}: kinematicVertices must be a list of vertex ids.`, {
      hint: OPTIONS_HINT,
    });
  return value;
}

const OPTIONS_HINT = 'Write an object, like {"parameters": {"stepLimit": 100}, "kinematicFrom": 15105}.';

const KNOWN_OPTIONS = new Set(['parameters', 'kinematicFrom', 'kinematicVertices']);

/** uint8[V], or undefined if no vertex is kinematic. @throws IntersticeError INDEX_OUT_OF_RANGE */
function kinematicOf(options: OptionsFile, vertexCount: number): Uint8Array<ArrayBuffer> | undefined {
  const { kinematicFrom = vertexCount, kinematicVertices = [] } = options;
  assertId(kinematicFrom, vertexCount, vertexCount);
  const marks = new Uint8Array(vertexCount).fill(1, kinematicFrom);
  for (const vertex of kinematicVertices) {
    assertId(vertex, vertexCount - 1, vertexCount);
    marks[vertex] = 1;
  }
  return marks.includes(1) ? marks : undefined;
}

/** @param most the largest valid id */
function assertId(vertex: number, most: number, vertexCount: number): void {
  if (Number.isInteger(vertex) && vertex >= 0 && vertex <= most) return;
  throw new IntersticeError(
    'INDEX_OUT_OF_RANGE',
    `The options name vertex ${vertex}; this mesh has the ids 0 to ${vertexCount - 1}.`,
  );
}

/** @throws IntersticeError SIZE_MISMATCH or INVALID_MESH if the target is of another mesh */
export function assertPair(start: OpenedMesh, target: OpenedMesh): void {
  assertSameTopology(start.file, target.file);
}

/** A pair as a request has it. */
export interface Pair {
  readonly mesh: MeshInput;
  readonly source: Source;
  /** uint32[V] of a welded mesh: the first vertex at the place of each, the only one there that elements use */
  readonly firstOf?: Uint32Array;
}

/** @throws IntersticeError for options that do not fit, or a target that separates vertices that are to be welded */
export function pairOf(
  start: OpenedMesh,
  target: OpenedMesh | undefined,
  options: OptionsFile,
  isWelded: boolean,
): Pair {
  const { file, glb } = start;
  const source = glb ? { file, glb } : { file };
  const kinematic = kinematicOf(options, file.vertexCount);
  if (!isWelded) return { mesh: { ...toMeshInput(file), ...(kinematic ? { kinematic } : {}) }, source };
  const firstOf = findCoincident(file);
  if (target) assertStaysWelded(target.file.positions, firstOf);
  const marks = kinematic ?? new Uint8Array(file.vertexCount);
  weldMarks(marks, firstOf);
  return { mesh: { ...toMeshInput(weldElements(file, firstOf)), kinematic: marks }, source, firstOf };
}

/** What can be welded: how many vertices of elements coincide with another one, and whether also in the target. */
export function seamsOf(
  start: OpenedMesh,
  target: OpenedMesh | undefined,
): { readonly copies: number; readonly stay: boolean } {
  const firstOf = findCoincident(start.file);
  const copies = countCoincident(start.file, firstOf);
  try {
    if (copies > 0 && target) assertStaysWelded(target.file.positions, firstOf);
    return { copies, stay: true };
  } catch {
    return { copies, stay: false };
  }
}

/** Words in file names that distinguish the start from the target; otherwise the alphabetical order decides. */
const START_WORDS = /(^|[^a-z])(start|from|begin|before|rest|source|x|state)([^a-z]|$)/i;
const TARGET_WORDS = /(^|[^a-z])(target|goal|to|end|after|wanted|y)([^a-z]|$)/i;

/** Sorts two names in the order start, target. */
export function orderNames(names: readonly string[]): string[] {
  const rank = (name: string) => (START_WORDS.test(name) ? 0 : TARGET_WORDS.test(name) ? 2 : 1);
  return [...names].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b, 'en', { numeric: true }));
}

function named(name: string, thrown: unknown): unknown {
  return thrown instanceof IntersticeError ? errorOfFile(name, thrown) : thrown;
}
