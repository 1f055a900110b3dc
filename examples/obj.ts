import type { Scene } from './scenes/types.js';

/** Joins consecutive segments of the list to polylines, as modelling programs write strands. */
function chainSegments(segments: Uint32Array): number[][] {
  const chains: number[][] = [];
  for (let i = 0; i < segments.length; i += 2) {
    const last = chains.at(-1);
    if (last?.at(-1) === segments[i]) last.push(segments[i + 1]);
    else chains.push([segments[i], segments[i + 1]]);
  }
  return chains;
}

/**
 * One state of a scene as Wavefront OBJ. Numbers are the shortest decimals that read back as the same doubles.
 * Independent of the service's own writer, so that the examples resemble files of other programs.
 * @param positions float64[3·V], metres
 */
export function writeObj(scene: Scene, positions: Float64Array, title: string): string {
  const lines = [`# ${title}`];
  for (const body of scene.bodies) {
    lines.push(`# ${body.name}: vertices ${body.firstVertex + 1} to ${body.firstVertex + body.vertexCount}`);
  }
  for (let i = 0; i < positions.length; i += 3) {
    lines.push(`v ${positions[i]} ${positions[i + 1]} ${positions[i + 2]}`);
  }
  const { triangles, particles } = scene;
  for (let i = 0; i < triangles.length; i += 3) {
    lines.push(`f ${triangles[i] + 1} ${triangles[i + 1] + 1} ${triangles[i + 2] + 1}`);
  }
  for (const chain of chainSegments(scene.segments)) lines.push(`l ${chain.map((id) => id + 1).join(' ')}`);
  for (const id of particles) lines.push(`p ${id + 1}`);
  return `${lines.join('\n')}\n`;
}
