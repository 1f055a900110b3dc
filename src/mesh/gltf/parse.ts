import { Logger, PlatformIO } from '@gltf-transform/core';
import { IntersticeError } from '../../contract/errors.js';
import { assertSupported } from './extensions.js';
import type { OpenedGltf } from './mesh.js';
import { assertWhole, reasonOf } from './whole.js';

/** Reads from bytes in memory by file name, because browsers have no folders. */
class MemoryIO extends PlatformIO {
  /** where the file says that each name lies */
  readonly #uris = new Map<string, string>();

  constructor(private readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>) {
    super();
    this.setLogger(new Logger(Logger.Verbosity.SILENT));
    // The mesh does not need its images.
    this.setStrictResources(false);
  }

  protected override readURI(uri: string, type: 'view'): Promise<Uint8Array<ArrayBuffer>>;
  protected override readURI(uri: string, type: 'text'): Promise<string>;
  protected override async readURI(uri: string, type: 'view' | 'text'): Promise<Uint8Array<ArrayBuffer> | string> {
    const name = decodeURIComponent(uri).replace(/^.*[\\/]/, '');
    const other = this.#uris.get(name);
    if (other !== undefined && other !== uri)
      throw new Error(`it refers to ${other} and ${uri}, two files of one name`);
    this.#uris.set(name, uri);
    const bytes = this.files.get(name);
    if (!bytes) throw new Error(`it refers to ${name}, which was not opened with it`);
    return type === 'text' ? new TextDecoder().decode(bytes) : bytes;
  }

  protected override resolve(_base: string, path: string): string {
    return path;
  }

  protected override dirname(): string {
    return '';
  }
}

/**
 * Opens a .glb or .gltf file from memory; runs in browsers.
 *
 * @param files bytes by name: the file itself, and those that a .gltf file refers to
 * @throws IntersticeError UNIMPLEMENTED for an extension that the positions depend on, MALFORMED_BODY
 */
export async function parseGltf(
  name: string,
  files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>,
): Promise<OpenedGltf> {
  const io = new MemoryIO(files);
  try {
    const file = await io.readAsJSON(encodeURIComponent(name));
    const extensions = assertSupported(file.json);
    assertWhole(file);
    return { document: await io.readJSON(file), extensions };
  } catch (thrown) {
    if (thrown instanceof IntersticeError) throw thrown;
    throw new IntersticeError('MALFORMED_BODY', `This is not a readable glTF file: ${reasonOf(thrown)}.`, {
      cause: thrown,
      hint: 'Open a .glb file, or a .gltf file together with the .bin files that it names.',
    });
  }
}
