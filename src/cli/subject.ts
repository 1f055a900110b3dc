import { basename } from 'node:path';
import type { MeshInput } from '../contract/mesh.js';
import { type Options, readOptions } from '../transport/json/options.js';
import { naming, readJsonFile } from './input-files.js';
import { listKinematic, markKinematicFile } from './kinematic.js';
import { assertSameTopology, type MeshFile, readMeshFile, toMeshInput } from './mesh-files.js';

/** Flags that `resolve` and `check` share. */
export interface SubjectFlags {
  readonly kinematicFrom?: number;
  /** path of a list of vertices */
  readonly kinematic?: string;
  /** path of an options file */
  readonly options?: string;
}

/** What both commands work on: a mesh with its kinematic vertices, and one more state of it where one was named. */
export interface Subject {
  readonly file: MeshFile;
  readonly other: MeshFile | undefined;
  readonly mesh: MeshInput;
  readonly options: Options;
  /** vertex ids, ascending */
  readonly kinematic: readonly number[];
}

/**
 * Reads the files of a command. The kinematic vertices are those of the options file, of `--kinematic` and of
 * `--kinematic-from` together, except that `--kinematic-from` replaces the `kinematicFrom` of the file.
 *
 * @throws UsageError for a file that cannot be opened, IntersticeError for what is in it; both name the file
 */
export async function readSubject(
  operation: 'resolve' | 'check',
  path: string,
  otherPath: string | undefined,
  flags: SubjectFlags,
): Promise<Subject> {
  const file = await naming(path, () => readMeshFile(path));
  const other = otherPath === undefined ? undefined : await naming(otherPath, () => readMeshFile(otherPath));
  if (other !== undefined) await naming(`${otherPath}`, async () => assertSameTopology(file, other));
  const options = await readOptionsOf(operation, path, file, flags);
  const marks = options.kinematic?.slice() ?? new Uint8Array(file.vertexCount);
  if (flags.kinematic !== undefined) await markKinematicFile(flags.kinematic, marks);
  const kinematic = listKinematic(marks);
  const mesh = toMeshInput(file);
  return { file, other, mesh: kinematic.length > 0 ? { ...mesh, kinematic: marks } : mesh, options, kinematic };
}

async function readOptionsOf(
  operation: 'resolve' | 'check',
  path: string,
  file: MeshFile,
  flags: SubjectFlags,
): Promise<Options> {
  const parts = [{ name: basename(path), firstVertex: 0, vertexCount: file.vertexCount }];
  const read = async (value: Record<string, unknown>): Promise<Options> =>
    readOptions(value, { vertexCount: file.vertexCount, parts, operation });
  const written = flags.options === undefined ? {} : await readJsonFile(flags.options);
  if (flags.kinematicFrom === undefined) {
    return flags.options === undefined ? read({}) : naming(flags.options, () => read(written));
  }
  // Both spellings of the mapping are removed: the flag stands in for whichever was there.
  const { kinematicFrom: _, kinematic_from: __, ...rest } = written;
  const merged = { ...rest, kinematicFrom: flags.kinematicFrom };
  return flags.options === undefined ? read(merged) : naming(flags.options, () => read(merged));
}
