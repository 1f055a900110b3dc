import type { Positions } from '../contract/mesh.js';
import { attributesLost, formatOf, type MeshFile, writeMesh } from '../mesh/files/index.js';
import { UsageError } from './exit-codes.js';
import { assertWritable, writeAtomically } from './outputs.js';
import type { Terminal } from './terminal.js';

/**
 * Checks the name of a mesh to be written before anything is computed.
 *
 * @throws UsageError for an unknown format, and as {@link assertWritable}
 */
export async function assertMeshOutput(path: string, inputs: readonly string[], command: string): Promise<void> {
  try {
    formatOf(path);
  } catch {
    throw new UsageError(`The format of ${path} is unknown; the name must end in .obj or .ply.`, command);
  }
  await assertWritable(path, inputs);
}

/**
 * Writes the elements of the start at the exact positions of the answer, in the format that the output's name selects, and
 * names on standard error what that format does not hold.
 */
export async function writeMeshAnswer(
  path: string,
  startPath: string,
  start: MeshFile,
  positions: Positions,
  terminal: Terminal,
): Promise<void> {
  const scalar = positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32';
  const format = formatOf(path);
  await writeAtomically(path, writeMesh({ ...start, format, scalar, positions }, format));
  const lost = attributesLost(start, format);
  if (lost.length > 0) terminal.err.write(`warning: ${path} does not hold ${lost.join(', ')} of ${startPath}.\n`);
}
