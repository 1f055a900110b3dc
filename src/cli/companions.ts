import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

interface GltfReference {
  /** absent for bytes within a .glb file */
  readonly uri?: string;
}

/** The files that a .gltf file refers to, its buffers and images; none for a file of another kind, or one that cannot be read. */
export async function companionsOf(path: string): Promise<string[]> {
  if (!/\.gltf$/i.test(path)) return [];
  try {
    const text = await readFile(path, 'utf8');
    const { buffers = [], images = [] } = JSON.parse(text) as Readonly<Record<string, GltfReference[]>>;
    return [...buffers, ...images].flatMap(({ uri }) =>
      uri === undefined || uri.startsWith('data:') ? [] : [resolve(dirname(path), decodeURIComponent(uri))],
    );
  } catch {
    return [];
  }
}
