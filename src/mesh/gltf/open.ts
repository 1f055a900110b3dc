import { stat } from 'node:fs/promises';
import { type Document, Logger, NodeIO } from '@gltf-transform/core';
import { IntersticeError } from '../../contract/errors.js';
import { assertSupported } from './extensions.js';
import { assertWhole, reasonOf } from './whole.js';

/** Reads and writes local files only: the library refuses network URIs. */
const openIo = (): NodeIO => new NodeIO().setLogger(new Logger(Logger.Verbosity.SILENT));

/**
 * Opens a .glb or .gltf file with the files that it refers to.
 *
 * @returns the document, and the extensions of the file that it does not contain
 * @throws IntersticeError UNIMPLEMENTED for an extension that the positions depend on, MALFORMED_BODY; errors of the
 *   file system for the file itself pass through
 */
export async function openDocument(path: string): Promise<{ document: Document; extensions: readonly string[] }> {
  const io = openIo();
  try {
    const file = await io.readAsJSON(path);
    const extensionsUsed = assertSupported(file.json);
    assertWhole(file);
    return { document: await io.readJSON(file), extensions: extensionsUsed };
  } catch (thrown) {
    if (thrown instanceof IntersticeError) throw thrown;
    const { code, path: missing } = thrown as NodeJS.ErrnoException;
    const isOfSystem = code !== undefined && !(thrown instanceof TypeError);
    // An error of reading a folder names no path.
    const isReferred =
      missing === undefined ? code === 'EISDIR' && !(await stat(path)).isDirectory() : missing !== path;
    if (isOfSystem && !isReferred) throw thrown;
    const reason = isOfSystem ? `it refers to ${missing ?? 'a folder'}, which cannot be read` : reasonOf(thrown);
    throw new IntersticeError('MALFORMED_BODY', `This is not a readable glTF file: ${reason}.`, { cause: thrown });
  }
}
