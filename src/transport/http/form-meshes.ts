import { IntersticeError } from '../../contract/errors.js';
import type { MeshInput } from '../../contract/mesh.js';
import { assertSameTopology, concatenate, type MeshFile, toMeshInput } from '../../mesh/files/index.js';
import type { NamedMesh } from './form.js';

/** The files of a form as one mesh, in the order they came. */
export interface FormMeshes {
  readonly start: MeshFile;
  readonly target: MeshFile | undefined;
  readonly parts: readonly { readonly name: string; readonly firstVertex: number; readonly vertexCount: number }[];
}

/**
 * @param names how the two groups are called in refusals
 * @throws MALFORMED_BODY when files are missing, INVALID_MESH and SIZE_MISMATCH when a target does not fit its start
 */
export function joinMeshes(
  starts: readonly NamedMesh[],
  targets: readonly NamedMesh[],
  names: { readonly start: string; readonly target: string; readonly isTargetNeeded: boolean },
): FormMeshes {
  if (starts.length === 0) {
    throw new IntersticeError('MALFORMED_BODY', `The form has no ${names.start} file.`);
  }
  const mayLack = !names.isTargetNeeded && targets.length === 0;
  if (!mayLack && targets.length !== starts.length) {
    throw new IntersticeError(
      'MALFORMED_BODY',
      `The form has ${starts.length} ${names.start} and ${targets.length} ${names.target} files; send as many of each.`,
    );
  }
  for (const [i, { file }] of targets.entries()) assertSameTopology(starts[i]!.file, file);
  const { file: start, ranges } = concatenate(starts.map(({ file }) => file));
  return {
    start,
    target: mayLack ? undefined : concatenate(targets.map(({ file }) => file)).file,
    parts: ranges.map((range, i) => ({ name: starts[i]!.name, ...range })),
  };
}

export function withKinematic(file: MeshFile, kinematic: Uint8Array | undefined): MeshInput {
  const mesh = toMeshInput(file);
  return kinematic ? { ...mesh, kinematic } : mesh;
}
