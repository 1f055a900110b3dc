import type { MeshInput } from '../../src/contract/mesh.js';
import { buildMesh } from '../../src/mesh/build.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import type { Random } from './random.js';

export interface LooseScene {
  readonly mesh: CollisionMesh;
  /** float32[3·V] */
  readonly x: Float32Array;
  readonly y: Float32Array;
}

export interface LooseOptions {
  readonly elements: number;
  /** side of the cube in which the elements lie; they are about 1 in size */
  readonly side: number;
  /** how far targets lie from x on each axis, at most */
  readonly travel: number;
  /** share of the elements that are kinematic, and of the vertices whose target is their place */
  readonly kinematic?: number;
  readonly still?: number;
  /** share of the elements of which each vertex is kinematic or not by itself */
  readonly border?: number;
  /** elements are dealt to this many parts, the first two ignore each other and the third itself */
  readonly parts?: number;
  /** parts begin in the middle of elements, which therefore lie in two of them */
  readonly isSewn?: boolean;
}

/** Triangles (some pairs with a common edge), rods and swarms of free points at random in a cube; they may intersect. */
export function looseScene(random: Random, options: LooseOptions): LooseScene {
  const { elements, side, travel, kinematic = 0, still = 0, border = 0, parts = 0, isSewn = false } = options;
  const triangles: number[] = [];
  const segments: number[] = [];
  const particles: number[] = [];
  const x: number[] = [];
  const y: number[] = [];
  const isKinematic: number[] = [];
  const firstVertices: number[] = [];
  for (let e = 0; e < elements; e++) {
    if (parts > 0 && e % Math.ceil(elements / parts) === 0) {
      firstVertices.push(isKinematic.length + (isSewn && e > 0 ? 1 : 0));
    }
    const centre = [0, 1, 2].map(() => side * random.between(-0.5, 0.5));
    const isFixed = random() < kinematic ? 1 : 0;
    // Drawn only where asked for, so that the other scenes of a seed do not change.
    const isMixed = border > 0 && random() < border;
    const vertex = (): number => {
      const staysPut = random() < still;
      for (let c = 0; c < 3; c++) {
        const at = Math.fround(centre[c] + random.between(-0.5, 0.5));
        x.push(at);
        y.push(staysPut ? at : at + travel * random.between(-1, 1));
      }
      isKinematic.push(isMixed ? random.int(2) : isFixed);
      return isKinematic.length - 1;
    };
    const kind = random.int(5);
    if (kind <= 1) triangles.push(vertex(), vertex(), vertex());
    else if (kind === 2) {
      const [a, b] = [vertex(), vertex()];
      triangles.push(a, b, vertex(), b, a, vertex());
    } else if (kind === 3) segments.push(vertex(), vertex());
    else for (let n = 0; n < 4; n++) particles.push(vertex());
  }
  const input: MeshInput = {
    vertexCount: isKinematic.length,
    triangles: Uint32Array.from(triangles),
    segments: Uint32Array.from(segments),
    particles: Uint32Array.from(particles),
    kinematic: Uint8Array.from(isKinematic),
    parts: firstVertices.map((firstVertex, p) => ({
      name: `part ${p}`,
      firstVertex,
      vertexCount: (firstVertices[p + 1] ?? isKinematic.length) - firstVertex,
    })),
    ignoredPartPairs: parts > 0 ? Uint32Array.of(0, 1, 2, 2) : new Uint32Array(0),
  };
  return { mesh: buildMesh(input), x: Float32Array.from(x), y: Float32Array.from(y) };
}
