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
    if (code !== undefined && (missing === undefined || missing === path)) throw thrown;
    const reason = code === undefined ? reasonOf(thrown) : `it refers to ${missing}, which cannot be read`;
    throw new IntersticeError('MALFORMED_BODY', `This is not a readable glTF file: ${reason}.`, { cause: thrown });
  }
}
