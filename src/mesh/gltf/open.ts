import { stat } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { type Document, HTTPUtils, Logger, NodeIO } from '@gltf-transform/core';
import { IntersticeError } from '../../contract/errors.js';
import { quote } from '../files/lines.js';
import { assertSupported } from './extensions.js';
import { assertWhole, reasonOf } from './whole.js';

/**
 * Reads local files only, because the library refuses network URIs; and of those that a file refers to, only files in its
 * folder and below. A file from elsewhere could otherwise name any file of this machine, whose bytes would become
 * positions, or an image in an answer that the user passes on.
 */
class FolderIO extends NodeIO {
  constructor() {
    super();
    this.setLogger(new Logger(Logger.Verbosity.SILENT));
  }

  protected override resolve(folder: string, uri: string): string {
    const path = super.resolve(folder, uri);
    if (HTTPUtils.isAbsoluteURL(path)) return path;
    const way = relative(folder, path);
    if (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return path;
    throw new IntersticeError(
      'MALFORMED_BODY',
      `The file refers to ${quote(uri)}, which lies outside of its folder and is not read.`,
      { hint: 'Move what it refers to into its folder and correct the uri, or export a .glb file.' },
    );
  }
}

/**
 * Opens a .glb or .gltf file with the files that it refers to.
 *
 * @returns the document, and the extensions of the file that it does not contain
 * @throws IntersticeError UNIMPLEMENTED for an extension that the positions depend on, MALFORMED_BODY; errors of the
 *   file system for the file itself pass through
 */
export async function openDocument(path: string): Promise<{ document: Document; extensions: readonly string[] }> {
  const io = new FolderIO();
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
