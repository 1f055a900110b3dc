import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type ErrorCode, IntersticeError } from '../contract/errors.js';
import type { MeshInput, MeshLimits } from '../contract/mesh.js';
import { assertSameTopology, type MeshFile, readMeshFile, toMeshInput } from '../mesh/files/index.js';
import { quote } from '../mesh/files/lines.js';
import { weldElements } from '../mesh/weld.js';
import { type Options, readOptions } from '../transport/json/options.js';
import { parseJsonText } from '../transport/json/parse.js';
import { UsageError } from './exit-codes.js';
import { formatPlural } from './format.js';
import { openingFailure } from './path-failure.js';
import { weldOf } from './weld.js';

/** Flags of the commands that read a mesh for a request. */
export interface InputFlags {
  readonly kinematicFrom?: number;
  /** path of a list of vertices */
  readonly kinematic?: string;
  /** path of an options file */
  readonly options?: string;
  /** whether elements are joined where vertices have the same position in the start */
  readonly weld?: boolean;
}

/** Flags of the shape at rest. */
export interface RestFlags {
  /** path of a mesh with the same vertices */
  readonly rest?: string;
  readonly strainMin?: number;
  readonly strainMax?: number;
}

/**
 * The mesh with the shape at rest and the strain limits that flags set: without strain limits, the shape sets the
 * lengths of edges.
 *
 * @param command that the flags belong to
 * @throws UsageError for limits without a rest shape
 */
export async function withRest(
  mesh: MeshInput,
  file: MeshFile,
  { rest: path, strainMin: min, strainMax: max }: RestFlags,
  command: string,
): Promise<MeshInput> {
  const hasLimits = min !== undefined || max !== undefined;
  if (path === undefined) {
    if (hasLimits) throw new UsageError('--strain-min and --strain-max need --rest FILE, the shape at rest.', command);
    return mesh;
  }
  const rest = await naming(path, () => readMeshFile(path));
  await naming(path, async () => assertSameTopology(file, rest, { start: 'start', target: 'shape at rest' }));
  if (!hasLimits) return { ...mesh, restLengths: { positions: rest.positions } };
  const limits = { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
  return { ...mesh, strainLimits: { rest: rest.positions, ...limits } };
}

/** Paths of the files that flags name, which no output may overwrite. */
export const filesOf = ({ kinematic, options, rest }: InputFlags & RestFlags): string[] =>
  [kinematic, options, rest].filter((path) => path !== undefined);

/** The input of a request: a mesh with its kinematic vertices and, if named, a second state of it. */
export interface Inputs {
  readonly file: MeshFile;
  /** the second state */
  readonly other: MeshFile | undefined;
  readonly mesh: MeshInput;
  readonly options: Options;
  /** vertex ids, ascending */
  readonly kinematic: readonly number[];
  /** uint32[V] of a welded mesh: the first vertex at the place of each; only these are in elements of `mesh` */
  readonly firstOf: Uint32Array | undefined;
}

/**
 * Reads the files of a command. The kinematic vertices are those of the options file, of `--kinematic` and of
 * `--kinematic-from` together, except that `--kinematic-from` replaces the `kinematicFrom` of the file.
 *
 * @param limits of the meshes, if they are known
 * @throws UsageError for a file that cannot be opened, IntersticeError for its content; both name the file
 */
export async function readInputs(
  operation: 'resolve' | 'check',
  path: string,
  otherPath: string | undefined,
  flags: InputFlags,
  limits?: MeshLimits,
): Promise<Inputs> {
  const file = await naming(path, () => readMeshFile(path, limits));
  const other = otherPath === undefined ? undefined : await naming(otherPath, () => readMeshFile(otherPath, limits));
  if (other !== undefined) await naming(`${otherPath}`, async () => assertSameTopology(file, other));
  const options = await readOptionsOf(operation, path, file, flags);
  const marks = options.kinematic?.slice() ?? new Uint8Array(file.vertexCount);
  if (flags.kinematic !== undefined) await markKinematicFile(flags.kinematic, marks);
  const firstOf = await naming(path, async () => weldOf(file, other, flags.weld === true, marks));
  const kinematic = listKinematic(marks);
  const mesh = toMeshInput(firstOf ? weldElements(file, firstOf) : file);
  return {
    file,
    other,
    mesh: kinematic.length > 0 ? { ...mesh, kinematic: marks } : mesh,
    options,
    kinematic,
    firstOf,
  };
}

/** @param command that the flags belong to @throws UsageError if the options request more than a mesh and a report */
export function refuseInclude({ include }: Options, { options: path }: InputFlags, command: string): void {
  if (include === undefined) return;
  throw new UsageError(
    `${path}: "include" is not supported on the command line, which returns a mesh and a report. Remove it.`,
    command,
  );
}

async function readOptionsOf(
  operation: 'resolve' | 'check',
  path: string,
  file: MeshFile,
  flags: InputFlags,
): Promise<Options> {
  const parts = [{ name: basename(path), firstVertex: 0, vertexCount: file.vertexCount }];
  const read = async (value: Record<string, unknown>): Promise<Options> =>
    readOptions(value, { vertexCount: file.vertexCount, parts, operation, unsupported: ['include'] });
  const written = flags.options === undefined ? {} : await readJsonFile(flags.options);
  if (flags.kinematicFrom === undefined) {
    return flags.options === undefined ? read({}) : naming(flags.options, () => read(written));
  }
  // The flag replaces the field in either of its two spellings.
  const { kinematicFrom: _, kinematic_from: __, ...rest } = written;
  const merged = { ...rest, kinematicFrom: flags.kinematicFrom };
  return flags.options === undefined ? read(merged) : naming(flags.options, () => read(merged));
}

/** Runs a reader of `path` and adds the path to its errors. */
export async function naming<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    const failure = openingFailure(thrown, path);
    throw failure instanceof IntersticeError && !failure.message.includes(path) ? withName(path, failure) : failure;
  }
}

function withName(name: string, error: IntersticeError): IntersticeError {
  const { code, message, details } = error.toPlain();
  return new IntersticeError(code, `${name}: ${message}`, { ...details, cause: error });
}

/** The files that the meshes of a request were read from. */
export interface MeshPaths {
  readonly start?: string | undefined;
  readonly target?: string | undefined;
  readonly rest?: string | undefined;
}

/** The files that an error of a request may be about; a code that is not listed is about none. */
const FILES_AT_FAULT: Readonly<Partial<Record<ErrorCode, readonly (keyof MeshPaths)[]>>> = {
  INVALID_MESH: ['start', 'rest'],
  INTERSECTING_START: ['start'],
  TOLERANCE_TOO_SMALL: ['start'],
  INDEX_OUT_OF_RANGE: ['start'],
  TOO_LARGE: ['start'],
  SIZE_MISMATCH: ['start', 'target', 'rest'],
  NOT_FINITE: ['start', 'target', 'rest'],
  COORDINATE_RANGE: ['start', 'target', 'rest'],
};

/**
 * Computes a request, and adds to errors about its meshes the files that they were read from. The message itself names
 * the field at fault, for whoever computes knows no files.
 */
export async function namingMeshes<T>(paths: MeshPaths, compute: () => Promise<T>): Promise<T> {
  try {
    return await compute();
  } catch (thrown) {
    if (!(thrown instanceof IntersticeError)) throw thrown;
    const files = (FILES_AT_FAULT[thrown.code] ?? []).flatMap((which) => paths[which] ?? []);
    throw files.length === 0 ? thrown : withName([...new Set(files)].join(', '), thrown);
  }
}

/** Reads the options file, a JSON object; the reader that the service uses checks its content. */
async function readJsonFile(path: string): Promise<Record<string, unknown>> {
  const text = await naming(path, () => readFile(path, 'utf8'));
  const value = parseJsonText(text.replace(/^\uFEFF/, ''), path);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new IntersticeError('MALFORMED_BODY', `${path}: The options must be one JSON object.`, {
      hint: 'Write an object, like {"parameters": {"stepLimit": 100}, "kinematicFrom": 15105}.',
    });
  }
  return value as Record<string, unknown>;
}

/**
 * Reads a list of kinematic vertices: one id or one range `first-last` (both included) per line; `#` starts a comment.
 *
 * @param marks uint8[V]; the listed vertices are set to 1, all others stay unchanged
 * @throws MALFORMED_BODY for a line that is neither, INDEX_OUT_OF_RANGE for an id ≥ V; both name the line
 */
export function markKinematicList(text: string, name: string, marks: Uint8Array): void {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  lines.forEach((line, index) => {
    const content = line.replace(/#.*/, '').trim();
    if (content !== '') markRange(content, `${name}, line ${index + 1}`, marks);
  });
}

function markRange(content: string, where: string, marks: Uint8Array): void {
  const match = /^(\d+)(?:\s*-\s*(\d+))?$/.exec(content);
  if (match === null) {
    throw new IntersticeError('MALFORMED_BODY', `${where}: ${quote(content)} is neither a vertex id nor a range.`, {
      hint: 'Write one id (17) or one range (100-250, both ends included) per line; # starts a comment.',
    });
  }
  const first = Number(match[1]);
  const last = match[2] === undefined ? first : Number(match[2]);
  if (last < first) {
    throw new IntersticeError('MALFORMED_BODY', `${where}: The range ${content} ends before it begins.`, {
      hint: `Write ${last}-${first}.`,
    });
  }
  if (last >= marks.length) {
    throw new IntersticeError(
      'INDEX_OUT_OF_RANGE',
      `${where}: Vertex ${last} does not exist; the mesh has ${marks.length} vertices, 0 to ${marks.length - 1}.`,
      { element: { kind: 'vertex', index: last, vertices: [last] } },
    );
  }
  marks.fill(1, first, last + 1);
}

/** Marks every vertex from an id on. @param marks uint8[V] @throws INDEX_OUT_OF_RANGE for an id > V */
export function markKinematicFrom(first: number, marks: Uint8Array): void {
  if (first > marks.length) {
    throw new IntersticeError(
      'INDEX_OUT_OF_RANGE',
      `--kinematic-from is ${first}, but there are ${formatPlural(marks.length, 'vertex', 'vertices')}.`,
    );
  }
  marks.fill(1, first);
}

/** Applies {@link markKinematicList} to a file. */
export async function markKinematicFile(path: string, marks: Uint8Array): Promise<void> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const failure = openingFailure(error, path);
    if (!(failure instanceof UsageError) || !/^\d+([-:,]\d*)*$/.test(path)) throw failure;
    throw new UsageError(
      `${failure.message} --kinematic takes a file with one id or range per line; --kinematic-from N marks every vertex from N on.`,
      failure.command,
    );
  });
  markKinematicList(text, path, marks);
}

/** Ids of the marked vertices, ascending. */
export function listKinematic(marks: Uint8Array): number[] {
  const ids: number[] = [];
  marks.forEach((mark, vertex) => {
    if (mark !== 0) ids.push(vertex);
  });
  return ids;
}
