import type { Positions } from '../contract/mesh.js';
import { attributesLost, formatOf, isStream, type MeshFile, writeMeshBytes } from '../mesh/files/index.js';
import { followWelded } from '../mesh/weld.js';
import { UsageError } from './exit-codes.js';
import type { Inputs } from './inputs.js';
import { assertWritable, writeAtomically } from './outputs.js';
import type { Terminal } from './terminal.js';

/**
 * Checks the name of a mesh to be written before anything is computed.
 *
 * @throws UsageError for an unknown format, otherwise like {@link assertWritable}
 */
export async function assertMeshOutput(path: string, inputs: readonly string[], command: string): Promise<void> {
  if (/\.gltf$/i.test(path)) {
    throw new UsageError(`${path} would be several files; glTF is written as one. Name it .glb.`, command);
  }
  try {
    formatOf(path);
  } catch {
    const fault = isStream(path) ? `Meshes are written to files, not to ${path}` : `The format of ${path} is unknown`;
    throw new UsageError(`${fault}; the name must end in .obj, .ply or .glb.`, command);
  }
  await assertWritable(path, inputs);
}

/** glTF has single precision only: a run for such a file starts in it, so that the file has exactly the tested bits. */
export function toSingleIfNeeded(file: MeshFile, output: string | undefined): MeshFile {
  if (output === undefined || formatOf(output) !== 'gltf' || file.scalar === 'FLOAT32') return file;
  return { ...file, scalar: 'FLOAT32', positions: Float32Array.from(file.positions) };
}

/**
 * Writes the elements of the start at the exact positions of the answer, in the format that the output's name selects,
 * and reports on standard error what that format cannot store.
 *
 * @param beforeNaming as for {@link writeAtomically}
 */
export async function writeMeshAnswer(
  path: string,
  startPath: string,
  { file: start, firstOf }: Pick<Inputs, 'file' | 'firstOf'>,
  answer: Positions,
  terminal: Terminal,
  beforeNaming?: (temporary: string) => Promise<void>,
): Promise<void> {
  const positions = firstOf ? followWelded(answer, firstOf) : answer;
  const scalar = positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32';
  const format = formatOf(path);
  const file = { ...start, format: format === 'gltf' ? start.format : format, scalar, positions } as const;
  await writeAtomically(path, await writeMeshBytes(file, format), beforeNaming);
  const lost = attributesLost(start, format);
  if (lost.length > 0) terminal.err.write(`warning: ${path} does not hold ${lost.join(', ')} of ${startPath}.\n`);
}
