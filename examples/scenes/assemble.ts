import type { ParametersInput } from '../../src/contract/parameters.js';
import type { Body, Scene } from './types.js';

/**
 * Coordinates are rounded to a tenth of a micrometre: the files stay small, and the last bits of a sine, which differ
 * between JavaScript engines, have no effect.
 */
const GRAIN = 1e7;

const round = (values: Float64Array): Float64Array => values.map((value) => Math.round(value * GRAIN) / GRAIN + 0); // + 0 removes minus zero

const shift = (ids: readonly number[] | undefined, by: number): number[] => (ids ?? []).map((id) => id + by);

const concatenate = (arrays: readonly Float64Array[]): Float64Array => {
  const joined = new Float64Array(arrays.reduce((sum, array) => sum + array.length, 0));
  let at = 0;
  for (const array of arrays) {
    joined.set(array, at);
    at += array.length;
  }
  return joined;
};

/** Joins bodies to one mesh, the kinematic ones last, so that one number (`kinematicFrom`) separates them. */
export function assemble(
  name: string,
  sentence: string,
  bodies: readonly Body[],
  parameters: ParametersInput = {},
): Scene {
  const ordered = [...bodies.filter((body) => !body.isKinematic), ...bodies.filter((body) => body.isKinematic)];
  const elements = {
    triangles: [] as number[],
    segments: [] as number[],
    particles: [] as number[],
    tetrahedra: [] as number[],
  };
  const ranges: Scene['bodies'][number][] = [];
  let firstVertex = 0;
  let kinematicFrom = 0;
  for (const body of ordered) {
    const vertexCount = body.start.length / 3;
    for (const kind of ['triangles', 'segments', 'particles', 'tetrahedra'] as const) {
      // One at a time, because spreading a long list into push() overflows the stack.
      for (const id of shift(body[kind], firstVertex)) elements[kind].push(id);
    }
    ranges.push({ name: body.name, role: body.role, firstVertex, vertexCount });
    firstVertex += vertexCount;
    if (!body.isKinematic) kinematicFrom = firstVertex - (body.kinematicTail ?? 0);
  }
  return {
    name,
    sentence,
    vertexCount: firstVertex,
    start: round(concatenate(ordered.map((body) => body.start))),
    target: round(concatenate(ordered.map((body) => body.target))),
    triangles: Uint32Array.from(elements.triangles),
    segments: Uint32Array.from(elements.segments),
    particles: Uint32Array.from(elements.particles),
    tetrahedra: Uint32Array.from(elements.tetrahedra),
    kinematicFrom,
    parameters,
    bodies: ranges,
  };
}
