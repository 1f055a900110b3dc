import type { Primitive } from '@gltf-transform/core';

const TRIANGLES = 4;
const TRIANGLE_STRIP = 5;
const TRIANGLE_FAN = 6;

export const hasTriangles = (primitive: Primitive): boolean =>
  [TRIANGLES, TRIANGLE_STRIP, TRIANGLE_FAN].includes(primitive.getMode());

/**
 * Visits the triangles of a list, a strip or a fan in the order of the file.
 *
 * @param count corners of the primitive, a multiple of three for a list
 * @param at vertex of a corner; both are counted from 0
 */
export function visitTriangles(
  primitive: Primitive,
  count: number,
  at: (corner: number) => number,
  visit: (a: number, b: number, c: number) => void,
): void {
  const mode = primitive.getMode() as number;
  if (mode === TRIANGLES) for (let i = 0; i < count; i += 3) visit(at(i), at(i + 1), at(i + 2));
  else if (mode === TRIANGLE_FAN) for (let i = 1; i + 1 < count; i++) visit(at(0), at(i), at(i + 1));
  else if (mode === TRIANGLE_STRIP) {
    for (let i = 0; i + 2 < count; i++) {
      const [a, b, c] = [at(i), at(i + 1 + (i % 2)), at(i + 2 - (i % 2))];
      // Repeated corners join the parts of a strip and are not triangles.
      if (a !== b && b !== c && c !== a) visit(a, b, c);
    }
  }
}
