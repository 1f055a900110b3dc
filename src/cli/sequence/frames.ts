import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { splitMorph } from '../../mesh/files/index.js';
import { companionsOf } from '../companions.js';
import { UsageError } from '../exit-codes.js';
import { naming } from '../inputs.js';
import { assertMeshOutput } from '../mesh-output.js';
import { hashFile, hashText, type Journal } from './journal.js';

export interface Frame {
  /** as on the command line */
  readonly input: string;
  /** file name in the folder of the answers */
  readonly name: string;
}

const byNumber = new Intl.Collator('en', { numeric: true });

/**
 * The frames of a sequence in numeric order of their names: `frame2.obj` comes before `frame10.obj`. An answer has the
 * name of its input; that of a .gltf file is a .glb file, and `shirt.glb#Smile` gives `shirt-Smile.glb`.
 *
 * @throws UsageError for fewer than two frames, or two with one name
 */
export function orderFrames(inputs: readonly string[]): Frame[] {
  const frames = inputs.map((input) => ({ input, name: outputName(input) }));
  frames.sort((a, b) => byNumber.compare(a.name, b.name));
  const names = new Set<string>();
  for (const { name } of frames) {
    const key = name.toLowerCase();
    if (names.has(key))
      throw new UsageError(`Two frames would be written as ${name}. Give them different names.`, 'resolve');
    names.add(key);
  }
  if (frames.length < 2) throw new UsageError('A sequence needs two frames or more.', 'resolve');
  return frames;
}

function outputName(input: string): string {
  const { path, morph } = splitMorph(input);
  const name = basename(path).replace(/\.gltf$/i, '.glb');
  return morph === undefined ? name : name.replace(/\.glb$/i, `-${morph.replaceAll(/[^\w-]/g, '_')}.glb`);
}

/**
 * One key per frame for its dependencies: the settings, its input and, through the previous key, all earlier inputs.
 *
 * @throws UsageError for an input that cannot be read
 */
export async function keysOf(frames: readonly Frame[], settings: object): Promise<string[]> {
  const keys: string[] = [];
  let before = hashText(JSON.stringify(settings));
  for (const { input } of frames) {
    before = hashText(before, ...(await hashesOf(input)));
    keys.push(before);
  }
  return keys;
}

/**
 * What an input is read from: the name of its morph target, the SHA-256 of its file and, for a .gltf file, those of the
 * files that it refers to, in which its positions are.
 *
 * @param input as on the command line
 * @throws UsageError if its file cannot be read. One that it refers to is reported when the mesh is read
 */
export async function hashesOf(input: string): Promise<string[]> {
  const { path, morph = '' } = splitMorph(input);
  const hashes = [morph, await naming(path, () => hashFile(path))];
  for (const other of await companionsOf(path)) hashes.push(await hashFile(other).catch(() => ''));
  return hashes;
}

/** The number of leading frames that are finished: their keys and their files match the journal. */
export async function countFinished(folder: string, keys: readonly string[], { entries }: Journal): Promise<number> {
  for (const [frame, key] of keys.entries()) {
    const entry = entries.get(frame);
    if (entry?.key !== key) return frame;
    const hash = await hashFile(join(folder, entry.output)).catch(() => undefined);
    if (hash !== entry.outputHash) return frame;
  }
  return keys.length;
}

/**
 * Checks all outputs before anything is computed.
 *
 * @throws UsageError for an output that is an input, or an existing file that is not in the journal, because it may
 *   belong to somebody
 */
export async function assertOutputs(folder: string, frames: readonly Frame[], { outputs }: Journal): Promise<void> {
  for (const { input, name } of frames) {
    const path = join(folder, name);
    await assertMeshOutput(path, [input], 'resolve');
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    if (!isThere || outputs.has(name)) continue;
    throw new UsageError(`${path} exists and is no answer of this sequence. Name another folder with -o.`, 'resolve');
  }
}
