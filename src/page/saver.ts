import type { Positions } from '../contract/mesh.js';
import { writeMesh } from '../mesh/files/print.js';
import { attributesLost } from '../mesh/files/sources.js';
import type { FileFormat, MeshFile } from '../mesh/files/types.js';
import { newDocument, replacePositions, toGlb } from '../mesh/gltf/glb.js';
import { parseGltf } from '../mesh/gltf/parse.js';
import type { Explorer } from './explorer.js';
import { formatPlural } from './format.js';
import type { Service } from './service/service.js';
import type { Study } from './study.js';
import { byId } from './ui/dom.js';
import { type Problem, problemOf, showProblem } from './ui/problem.js';

const ENDINGS = { obj: 'obj', ply: 'ply', gltf: 'glb' } as const;
const TYPES = { obj: 'model/obj', ply: 'model/ply', gltf: 'model/gltf-binary' } as const;

/** Saves the answer that is shown, with the other content of the start's file if the format supports it. */
export class Saver {
  constructor(
    private readonly explorer: Explorer,
    private readonly service: Service | undefined,
  ) {
    byId('save').addEventListener(
      'click',
      () => void this.save(byId<HTMLSelectElement>('save-format').value as FileFormat),
    );
  }

  async save(format: FileFormat): Promise<void> {
    const { study } = this.explorer;
    const positions = study?.answer?.positions ?? study?.untangled?.positions;
    if (!study || !positions) return;
    try {
      const file = {
        ...fileOf(study),
        format: format === 'ply' ? 'ply' : 'obj',
        positions,
        ...scalarOf(positions),
      } as const;
      const name = `answer.${ENDINGS[format]}`;
      const chunks = format === 'gltf' ? [await this.#glb(study, positions)] : [...writeMesh(file, format)];
      download(name, new Blob(chunks as Uint8Array<ArrayBuffer>[], { type: TYPES[format] }));
      const { gltf } = file;
      // The page has only the mesh of a .gltf file, so saving as glTF loses as much as any other format.
      const isPart = gltf !== undefined && format === 'gltf' && !study.source?.glb;
      const lost = isPart ? gltf.names : attributesLost(file, format);
      if (lost.length > 0) showProblem(note(`${name} does not hold ${lost.join(', ')} of the start.`), undefined);
    } catch (thrown) {
      showProblem(problemOf(thrown), undefined);
    }
  }

  /** @throws Error if rounding to single precision, the only one of the format, would cause an intersection */
  async #glb(study: Study, positions: Positions): Promise<Uint8Array> {
    const single = Float32Array.from(positions);
    if (positions instanceof Float64Array) await this.#assertFree(study, single);
    const glb = study.source?.glb;
    if (!glb) return toGlb(newDocument({ ...fileOf(study), positions: single }));
    const { document } = await parseGltf('start.glb', new Map([['start.glb', glb]]));
    replacePositions(document, single, 'The file of the start');
    return toGlb(document);
  }

  /** The answer was tested in its original precision; rounded positions are tested before they are saved. */
  async #assertFree({ mesh }: Study, positions: Float32Array): Promise<void> {
    const hint = 'Save it as PLY or OBJ, which keep its numbers.';
    if (!this.service) {
      const message =
        'glTF holds single precision, and rounding to it can make an answer intersect. A service would test that.';
      throw Object.assign(new Error(message), { code: 'NOT_TESTED', hint });
    }
    const { intersectionCount } = await this.service.check(mesh, positions, new AbortController().signal);
    if (intersectionCount === 0) return;
    const pairs = `${formatPlural(intersectionCount, 'pair')} of the answer ${intersectionCount === 1 ? 'intersects' : 'intersect'}`;
    const message = `glTF holds single precision; rounded to it, ${pairs}.`;
    throw Object.assign(new Error(message), { code: 'ROUNDED_ANSWER_INTERSECTS', hint });
  }
}

const scalarOf = (positions: Positions) =>
  ({ scalar: positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32' }) as const;

const note = (message: string): Problem => ({
  code: 'NOTE',
  message,
  hint: '',
  pairs: [],
  pairCount: 0,
  element: undefined,
  isRetryable: false,
});

/** The file of the start, or the equivalent file of its mesh. */
function fileOf({ source, mesh, start }: Study): MeshFile {
  if (source) return source.file;
  const { vertexCount, triangles = NONE, segments = NONE, particles = NONE } = mesh;
  return {
    format: 'obj',
    ...scalarOf(start),
    vertexCount,
    positions: start,
    triangles,
    segments,
    particles,
    faceSizes: new Uint32Array(triangles.length / 3).fill(3),
    faceVertices: triangles,
  };
}

const NONE = new Uint32Array(0);

function download(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has read the address by the next turn of the event loop.
  setTimeout(() => URL.revokeObjectURL(link.href));
}
