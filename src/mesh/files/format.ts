import { IntersticeError } from '../../contract/errors.js';
import type { MeshFormat } from './types.js';

/** The format that a file's name stands for, in any case; undefined for any other ending. */
export function guessFormat(name: string): MeshFormat | undefined {
  const [, extension] = /\.(obj|ply)$/i.exec(name) ?? [];
  return extension === undefined ? undefined : (extension.toLowerCase() as MeshFormat);
}

/**
 * As {@link guessFormat}, for where there is nothing else to go by.
 *
 * @throws IntersticeError UNSUPPORTED_MEDIA_TYPE
 */
export function formatOf(name: string): MeshFormat {
  const format = guessFormat(name);
  if (format) return format;
  throw new IntersticeError('UNSUPPORTED_MEDIA_TYPE', `${name} is neither an .obj nor a .ply file`, {
    hint: 'Name the file .obj or .ply, or convert it to one of these.',
  });
}
